"""Goals of tasks, and criteria: their errors or values, Jacobian rows and curvature."""
