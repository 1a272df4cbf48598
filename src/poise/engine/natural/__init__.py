"""Natural motion: what a figure does with the freedom that its tasks leave, and how a person stands."""
