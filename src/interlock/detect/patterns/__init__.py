"""The detectors, one per module: a module here with a factory named `detector` is a built-in detector."""
