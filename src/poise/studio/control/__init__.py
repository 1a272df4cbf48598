"""Which mode is on, and files that come and go."""
