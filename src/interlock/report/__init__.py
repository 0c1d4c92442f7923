"""What a run was, told for people: one self-contained file, and the story that every face reads."""
