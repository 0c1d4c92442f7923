"""Find patterns in the stream of steps, one file each, at constant cost per step."""
