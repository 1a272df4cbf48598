"""The panels of the modes, and the buttons that switch between modes."""
