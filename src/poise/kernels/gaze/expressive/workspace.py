"""Rows of the workspace array of the expressive solver, (WORKSPACE_ROWS, n).

It is one array, because the same kernels run on a GPU, where each thread has a slice of local memory: the pointers of
`poise.kernels.jit.memory` do not lead there, and a tuple of forty arrays costs seven words per array at every call. The
caller owns it, so that the kernels allocate nothing.
"""

REST_FRAME_ROWS = 0
"""4 rows: the frame of each segment at joint angle 0, with the root at angle 0 too."""
POSITION_ROWS = 1
"""3 rows: the position of each joint [m]; they overlap REST_FRAME_ROWS, which a look at a near point does not need."""
POSTURE_COS_ROW, POSTURE_SIN_ROW, POSTURE_BEND_ROW = 4, 5, 6
"""Cosine and sine of each angle of the wanted posture, and the cosine of the bend at that angle."""
HEIGHT_CONSTANT_ROW, HEIGHT_COS_ROW, HEIGHT_SIN_ROW = 7, 8, 9
"""C, A, B of the height C + A cos θ + B sin θ, see `poise.kernels.gaze.expressive.surface`."""
HALF_COS_ROW, HALF_SIN_ROW = 10, 11
"""Cosine and sine of half of each angle."""
HEIGHT_SLOPE_ROW = 12
"""Derivative of the height with respect to each joint."""
STEP_ROW = 13
"""Step of each joint [rad]."""
COMPLIANCE_ROW = 14
"""1 / stiffness of each joint."""
FIXED_ROW = 15
"""1 for a joint fixed at a bound of its box."""
CURRENT_ROW, TRIAL_ROW, BEST_ROW = 16, 17, 18
"""Current, trial and best angles [rad]."""
PIVOT_COST_ROWS, PIVOT_JOINT_ROWS, PIVOT_ANGLE_ROWS = 19, 21, 23
"""2 rows each: cost, joint and angle of the starts that move a single joint."""
AXIS_ROWS = 25
"""3 rows: world axis of each joint, the columns of the Jacobian."""
STEP_LOWER_ROW, STEP_UPPER_ROW = 28, 29
"""Bounds of a step [rad]."""
REFERENCE_ROW = 30
"""Angles that a step prefers, such as the wanted posture or its mirror image [rad]."""
START_ROW = 31
"""Angles at the start of a step [rad]."""
FULL_STEP_ROW = 32
"""A step before the line search shortens it [rad]."""
BOX_LOWER_ROW, BOX_UPPER_ROW = 33, 34
"""Bounds of the angles while the gaze is held [rad]."""
PREVIOUS_ROW = 35
"""Angles of the previous frame [rad]."""
SOLVED_ROW, MIRRORED_ROW = 36, 37
"""Angles that `solve` found without a previous frame, and their mirror image [rad]."""
GOAL_ROW = 38
"""Angles that the chain follows or moves to [rad]."""
AHEAD_ROW = 39
"""Angles that follow the predicted target on the branch of GOAL_ROW [rad]."""
ROLLOUT_ROW = 40
"""Angles of a way to a goal, frame by frame [rad]."""
FROM_ROW = 41
"""Angles at the start of one frame of a way [rad]."""
UNBOUNDED_STEP_ROW = 0
"""The preferred step before the box is applied [rad]; shares its row with REST_FRAME_ROWS, which no step needs."""
FRAME_ROW = 42
"""Angles of the current frame [rad]."""
KEPT_ROW = 43
"""The best angles of several attempts [rad]."""
WORKSPACE_ROWS = 44
