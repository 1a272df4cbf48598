"""Distances between the bodies of a figure and to obstacles, and the contact points of its soles."""
