"""Statics of a figure: balance, contact forces of the ground, and holding torques [Baerlocher 2001, ch. 6]."""

from poise.forces.acting import Acting, acting_on, footholds_of, wrench_table
from poise.forces.balance import Balance, balance
from poise.forces.equilibrium import (
    Moment,
    Wrench,
    equilibrium_error,
    friction_used,
    net_force,
    root_reaction,
    support_forces,
)
from poise.forces.loads import Force, Gravity, Load, Support
from poise.forces.reactions import Reactions, find_reactions
from poise.forces.torques import TorqueCriterion, joint_torques, torque_slopes

__all__ = [
    "Acting",
    "Balance",
    "Force",
    "Gravity",
    "Load",
    "Moment",
    "Reactions",
    "Support",
    "TorqueCriterion",
    "Wrench",
    "acting_on",
    "balance",
    "equilibrium_error",
    "find_reactions",
    "footholds_of",
    "friction_used",
    "joint_torques",
    "net_force",
    "root_reaction",
    "support_forces",
    "torque_slopes",
    "wrench_table",
]
