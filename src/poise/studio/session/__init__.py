"""The state that all pages share and the functions that change it: scene, posture, undo history, pulls, targets."""
