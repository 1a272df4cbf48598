"""The opening scenes of figures, and example scenes."""
