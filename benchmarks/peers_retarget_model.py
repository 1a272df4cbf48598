"""A figure as an MJCF model for peers: its tree, its joints and the limits that MuJoCo knows, and points to track."""

from xml.sax.saxutils import quoteattr

import numpy as np

ALIKE = 1e-12


def mjcf_of(figure, sites):
    """The model; `sites` are names with a site or body of the figure and a point in its frame."""
    hangs = {}
    for body, joint in figure.tree_order:
        hangs.setdefault(joint.parent if joint is not None else None, []).append((body, joint))
    marks = {}
    for name, (site, offset) in sites.items():
        body = figure.sites[site].body if site in figure.sites.names else site
        at = figure.sites[site].pose.apply(offset) if site in figure.sites.names else np.asarray(offset)
        marks.setdefault(body, []).append(f"<site name={quoteattr(name)} pos={_numbers(at)}/>")
    inside = "".join(_body(figure, hangs, marks, *entry) for entry in hangs[None])
    return f"<mujoco><compiler angle='radian'/><worldbody>{inside}</worldbody></mujoco>"


def _body(figure, hangs, marks, body, joint):
    assert joint is not None and not joint.reversed, "only figures on joints of their own"
    assert np.abs(joint.child_frame.rotation[1:]).max() < ALIKE, "bodies turned in their joints are not written"
    assert np.abs(joint.child_frame.position).max() < ALIKE, "bodies begin at their joints"
    inner = "".join(_body(figure, hangs, marks, *entry) for entry in hangs.get(body, []))
    return (
        f"<body name={quoteattr(body)} pos={_numbers(joint.parent_frame.position)} "
        f"quat={_numbers(joint.parent_frame.rotation)}>{_joints(joint)}"
        "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
        f"{''.join(marks.get(body, []))}{inner}</body>"
    )


def _joints(joint):
    if joint.kind == "free":
        return f"<freejoint name={quoteattr(joint.name)}/>"
    if joint.kind == "ball":
        return f"<joint name={quoteattr(joint.name)} type='ball'/>"
    kinds = {"turn": "hinge", "slide": "slide"}
    parts = []
    for k, (primitive, axis) in enumerate(zip(joint.primitives, joint.axes, strict=True)):
        low, high = joint.lower[k], joint.upper[k]
        bound = np.isfinite(low) and np.isfinite(high)
        limits = f"limited='true' range={_numbers((low, high))}" if bound else ""
        name = quoteattr(f"{joint.name}.{k}")
        parts.append(f"<joint name={name} type='{kinds[primitive]}' axis={_numbers(axis)} {limits}/>")
    return "".join(parts)


def _numbers(values):
    return "'" + " ".join(repr(float(value)) for value in values) + "'"


def order_of(figure):
    """(nq,) index in our postures of every coordinate of MuJoCo, which visits bodies depth first."""
    hangs = {}
    for body, joint in figure.tree_order:
        hangs.setdefault(joint.parent if joint is not None else None, []).append((body, joint))
    order = []

    def visit(body, joint):
        at = figure.q_slice(joint.name)
        order.extend(range(at.start, at.stop))
        for entry in hangs.get(body, []):
            visit(*entry)

    for entry in hangs[None]:
        visit(*entry)
    return np.array(order)


def start_of(figure, targets):
    """(nq,) MuJoCo's coordinates of the neutral posture, over the middle of the first targets (sites, 3)."""
    q = np.array(figure.neutral().q)
    base = next(figure.q_slice(joint.name).start for joint in figure.joints if joint.kind == "free")
    middle = targets[0].mean(axis=0)
    up = figure.up_vector
    q[base : base + 3] += middle - (middle @ up) * up
    return q[order_of(figure)]


def ours_from_mujoco(figure, q):
    """(frames, nq) our coordinates from MuJoCo's."""
    out = np.empty_like(q)
    out[:, order_of(figure)] = q
    return out
