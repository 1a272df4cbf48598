"""Expressive: a posture is held while the tip of a chain looks at a target."""
