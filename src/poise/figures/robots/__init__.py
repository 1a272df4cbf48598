"""Serial chains of hinges: the ERIK skeletons, Adelino, a snake, and an arm."""
