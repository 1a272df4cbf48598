"""The live runtime: a figure that holds, plays and looks, smoothly and inside its limits always."""

from poise.character.character import Character as Character
from poise.character.mind import Solver as Solver

__all__ = ["Character", "Solver"]
