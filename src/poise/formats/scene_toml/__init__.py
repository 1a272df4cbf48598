"""The scene file: a figure with its tasks, forces, obstacles and criteria.

    figure = "human"                  # built in, or a file beside this one
    angles = "degrees"                # of postures; or "radians", the default
    start = "standing"                # a posture's name, a .json file that `poise solve -o` wrote, or [start]
    solid = true                      # bodies do not pass through each other, the floor or obstacles

    [[task]]
    kind = "center_of_mass"
    over = ["left_foot", "right_foot"]

    [[task]]
    kind = "position"
    site = "right_hand"
    at = [-0.4, 1.2, 0.9]             # metres
    priority = 2                      # 1, the default, is the highest

    [[obstacle]]
    kind = "box"
    size = [0.6, 0.05, 0.4]
    at = [0, 0.8, 0.5]

The keys of a table are the arguments of its class in Python. Poses are `at` and `turned`, as in figure files. A scene
that is written and read again is equal bit for bit; paths are written relative to the file.
"""

from poise.formats.scene_toml.read import parse_scene, read_scene
from poise.formats.scene_toml.write import scene_text, write_scene

__all__ = ["parse_scene", "read_scene", "scene_text", "write_scene"]
