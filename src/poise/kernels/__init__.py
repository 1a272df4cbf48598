"""Numbers only: compiled functions over tuples and arrays, with no knowledge of figures or files."""
