"""Chains of hinges: the skeletons of the papers, a lamp, a snake, an arm."""
