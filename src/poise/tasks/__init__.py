"""What can be asked of a figure."""
