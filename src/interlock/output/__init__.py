"""What a run's command printed: copied to where it belongs, kept with the run, redacted and bounded."""

from .kept import GAP, SCREEN, STDERR, STDOUT, TERMINAL, Latest, OutputReader, OutputWriter, Printed

__all__ = ["GAP", "SCREEN", "STDERR", "STDOUT", "TERMINAL", "Latest", "OutputReader", "OutputWriter", "Printed"]
