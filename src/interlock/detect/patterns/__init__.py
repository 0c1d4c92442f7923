"""The detectors, one file each: a module here with a factory named `detector` is a built-in detector."""
