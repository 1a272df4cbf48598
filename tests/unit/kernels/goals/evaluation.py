"""All that is known of a posture at once, which the engine computes in parts."""

from poise.kernels.body.tree import center_of_mass, motion_axes
from poise.kernels.goals.goals import find_errors, place_nodes


def evaluate(tree, goals, q, evaluation):
    """Compute node frames, centres of mass, and the errors and wrenches of every goal at coordinates `q`."""
    place_nodes(tree, q, evaluation)
    motion_axes(tree, evaluation.rotation, evaluation.axes)
    center_of_mass(tree, evaluation.position, evaluation.rotation, evaluation.centers)
    find_errors(tree, goals, q, evaluation)
