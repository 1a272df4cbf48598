"""Tasks, criteria and obstacles: the problem that a solver is given besides the figure."""
