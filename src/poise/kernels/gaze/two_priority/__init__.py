"""Damped least squares with two priorities: orientation first, posture second."""
