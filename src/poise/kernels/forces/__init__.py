"""Statics: forces on a figure, contact forces inside friction cones, joint torques, support polygons."""
