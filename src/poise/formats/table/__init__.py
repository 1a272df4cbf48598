"""Motions and postures as tables, JSON and NPZ."""
