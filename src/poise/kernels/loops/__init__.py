"""Kinematic loops: what keeps them open, how that changes, and postures that close them."""
