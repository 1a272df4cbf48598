"""Distances between the parts of a figure, and to obstacles; the soles it stands on."""
