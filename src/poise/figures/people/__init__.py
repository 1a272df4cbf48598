"""A human, a hand and a cyclist, from published measures."""
