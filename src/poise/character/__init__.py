"""A figure animated in real time: it holds postures, plays clips and looks at targets, smoothly and within limits."""

from poise.character.character import Character as Character
from poise.character.solver_thread import Solver as Solver

__all__ = ["Character", "Solver"]
