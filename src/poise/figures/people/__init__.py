"""A human, a hand and a cyclist, from published anthropometric data."""
