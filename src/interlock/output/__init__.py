"""What a run's command printed: copied to where it belongs, kept with the run, redacted and bounded."""

from .kept import GAP, SCREEN, STDERR, STDOUT, TERMINAL, Latest, OutputReader, OutputWriter, Printed
from .last_lines import LastLines, read_last_lines

__all__ = [
    "GAP", "SCREEN", "STDERR", "STDOUT", "TERMINAL", "LastLines", "Latest", "OutputReader", "OutputWriter", "Printed",
    "read_last_lines",
]  # fmt: skip
