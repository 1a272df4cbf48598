"""What the studio shows and who changes it: the scene, its undo history, pulls and targets."""
