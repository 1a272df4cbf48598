"""Functions that return a scene or a figure with one thing changed; they know no state of the studio."""
