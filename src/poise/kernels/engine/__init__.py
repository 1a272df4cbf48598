"""A step of the engine: its model, a trial, whether it is accepted, and what is remembered."""
