"""The retarget mode: transfers an animation to another figure."""
