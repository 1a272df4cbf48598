"""The animation of the pose mode: solving its frames, playing and recording."""
