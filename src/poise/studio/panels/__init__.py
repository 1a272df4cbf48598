"""The panels of the page: tasks, joints, forces, criteria, body, and menus."""
