"""The circles mode: demonstrations of inverse kinematics by intersecting circles, in a side view."""
