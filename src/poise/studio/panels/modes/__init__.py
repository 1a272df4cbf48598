"""The panels of the modes, and the switch between them."""
