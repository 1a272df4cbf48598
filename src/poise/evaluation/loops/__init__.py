"""The evaluation of inverse kinematics with loops [Schumacher et al. 2021, section V]."""
