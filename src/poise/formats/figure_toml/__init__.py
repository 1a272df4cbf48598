"""The `*.figure.toml` format: a whole figure as text that a person can read and edit.

    name = "lamp"
    up = "y"
    angles = "degrees"                # or "radians", the default

    [[body]]                          # a rigid part; its frame sits at its joint
    name = "foot"
    mass = 0.5                        # [kg], spread over the shapes; or density; or mass, center and inertia
    shapes = [{ kind = "cylinder", radius = 0.08, length = 0.02, turned = { axis = "x", degrees = -90 } }]

    [[body]]
    name = "stem"

    [[joint]]                         # connects a body to its parent; without a parent, to the world
    name = "turn"
    kind = "revolute"
    parent = "foot"
    child = "stem"
    axis = "y"                        # or "-y", or three numbers; `axes` for a joint with several axes
    at = [0, 0.02, 0]                 # position in the parent's frame; also `turned`, `child_at`, `child_turned`
    limits = [-90, 90]                # one pair per coordinate

    [[site]]                          # a named frame on a body
    name = "tip"
    body = "stem"
    at = [0, 0.3, 0]

    [posture.bowed]                   # a named posture
    turn = 45

Ball joints have `swing = { ellipse = [60, 40] }` or `{ polygon = [[x, y, z], …] }`, `twist = [-90, 90]` (each bound one
number, or up to six coefficients of 1, s_x, s_y, s_x², s_x s_y, s_y²), and two rotations: `cone`, whose z axis is the
middle of the swing region in the parent's axes, and `limb`, whose z axis is the limb in the child's axes.
`[[loop]]` is a joint that closes a loop. `[[coupling]]` has `terms = { hip = 1, shoulder.twist = 0.5 }` and `equals`,
or `lower` and `upper`. Joints also have `active`, `speed`, `strength` and `reversed`. A figure that is written and read
again is equal bit for bit; the writer uses degrees only if they are exact.
"""

from poise.formats.figure_toml.file import figure_text, parse_figure, read_figure, write_figure

__all__ = ["figure_text", "parse_figure", "read_figure", "write_figure"]
