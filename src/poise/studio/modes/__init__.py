"""What moves the figure in each mode of the studio."""
