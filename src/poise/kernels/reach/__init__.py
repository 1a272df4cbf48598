"""Reach: inverse kinematics of one end effector by damped least squares inside all limits."""
