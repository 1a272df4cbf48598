"""Clips and motions: postures of a figure over time."""
