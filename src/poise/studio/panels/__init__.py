"""The panels of the page."""
