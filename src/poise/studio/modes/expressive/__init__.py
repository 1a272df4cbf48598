"""The expressive mode: a chain holds a posture while its tip looks at a target."""
