"""Which joint of a skeleton corresponds to which part of a figure."""
