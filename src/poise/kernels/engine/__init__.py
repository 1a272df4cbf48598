"""One step of the engine: it builds a model, solves it, tries the step and accepts or rejects it."""
