"""The level solver: lexicographic least squares with linear limits, which gives one step of the engine."""
