"""The present mode and its driver, and files that are opened and saved."""
