"""What tasks and criteria ask for: errors, Jacobian rows and their curvature."""
