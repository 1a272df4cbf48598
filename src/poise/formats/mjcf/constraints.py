"""Reads the equality constraints and tendons of a MuJoCo model as loop joints and couplings."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.polynomial import Polynomial

from poise.figure.model.curves import Curve
from poise.figure.model.joints import Coupling, Joint, Kind, Term
from poise.figure.model.pose import Pose
from poise.formats.mjcf.actuators import tendon_terms
from poise.formats.mjcf.model import WORLD_BODY, Mjcf, pose_of

_CONNECT_EQUALITY, _WELD_EQUALITY, _JOINT_EQUALITY = 0, 1, 2
_EQUALITY_NAMES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
_SITE_OBJECT = 6
_JOINT_WRAP = 1

End = tuple[str | None, Pose]
"""A body, or None for the world, and a frame on it."""


def refuse_flexible_parts(mjcf: Mjcf) -> None:
    """Refuse flexible bodies and spatial tendons, which figures do not have."""
    m = mjcf.model
    if m.nflex:
        raise mjcf.error("this model has flexible bodies, which a figure of rigid bodies cannot have.")
    for tendon in range(m.ntendon):
        name = m.tendon(tendon).name
        if m.wrap_type[m.tendon_adr[tendon]] != _JOINT_WRAP:
            raise mjcf.error(
                f"tendon {name!r} runs through sites, which poise does not support: remove it, or couple the joints "
                "with <equality> or a fixed tendon.",
                name,
                "spatial",
            )


def read_loops(mjcf: Mjcf) -> list[Joint]:
    """Read every active <connect> and <weld> as a joint that closes a loop."""
    loops = []
    for equality, kind, name in _active(mjcf):
        if kind not in (_CONNECT_EQUALITY, _WELD_EQUALITY):
            continue
        near, far = _ends(mjcf, equality, kind)
        if far[0] is None:
            near, far = far, near
        if far[0] is None:
            continue
        joint: Kind = "ball" if kind == _CONNECT_EQUALITY else "fixed"
        title = mjcf.link_names.take(name or f"{near[0] or 'world'}_meets_{far[0]}")
        with mjcf.locating_errors(name, *_EQUALITY_NAMES):
            loops.append(Joint(title, joint, near[0], far[0], parent_frame=near[1], child_frame=far[1], active=False))
    return loops


def read_couplings(mjcf: Mjcf) -> list[Coupling]:
    """Read every active <joint> equality and every fixed tendon with a range as a coupling of joints."""
    m = mjcf.model
    equal = [_joint_coupling(mjcf, equality, name) for equality, kind, name in _active(mjcf) if kind == _JOINT_EQUALITY]
    limited = [tendon for tendon in range(m.ntendon) if m.tendon_limited[tendon] and tendon_terms(mjcf, tendon)]
    return equal + [_tendon_coupling(mjcf, tendon) for tendon in limited]


def _active(mjcf: Mjcf) -> Iterator[tuple[int, int, str]]:
    m = mjcf.model
    for equality in range(m.neq):
        kind, name = int(m.eq_type[equality]), m.equality(equality).name
        if not m.eq_active0[equality]:
            continue
        if kind not in (_CONNECT_EQUALITY, _WELD_EQUALITY, _JOINT_EQUALITY):
            reason = f"poise does not support <equality> of type {_EQUALITY_NAMES[kind]}, such as {name!r}."
            raise mjcf.error(reason, name, *_EQUALITY_NAMES)
        yield equality, kind, name


def _ends(mjcf: Mjcf, equality: int, kind: int) -> tuple[End, End]:
    """The two frames that the constraint makes coincide.

    For a connect, MuJoCo stores the point on the first and on the second body; for a weld, the point on the second
    body, then the matching frame on the first body.
    """
    m = mjcf.model
    first, second, data = int(m.eq_obj1id[equality]), int(m.eq_obj2id[equality]), m.eq_data[equality]
    if int(m.eq_objtype[equality]) == _SITE_OBJECT:
        return _site(mjcf, first), _site(mjcf, second)
    with mjcf.locating_errors(m.equality(equality).name, *_EQUALITY_NAMES):
        if kind == _CONNECT_EQUALITY:
            near, far = Pose(data[0:3].copy()), Pose(data[3:6].copy())
        else:
            near, far = pose_of(data[3:6], data[6:10]), Pose(data[0:3].copy())
    return (_body(mjcf, first), near), (_body(mjcf, second), far)


def _site(mjcf: Mjcf, site: int) -> End:
    m = mjcf.model
    return _body(mjcf, int(m.site_bodyid[site])), pose_of(m.site_pos[site], m.site_quat[site])


def _body(mjcf: Mjcf, body: int) -> str | None:
    return None if body == WORLD_BODY else mjcf.body_names[body]


def _joint_coupling(mjcf: Mjcf, equality: int, name: str) -> Coupling:
    """The coupling q₁ − r₁ = Σ c_k (q₂ − r₂)^k with reference values r; without a second joint, q₁ − r₁ = c₀."""
    m = mjcf.model
    first, second = int(m.eq_obj1id[equality]), int(m.eq_obj2id[equality])
    constant, slope, *rest = (float(c) for c in m.eq_data[equality][:5])
    title = mjcf.link_names.take(name or f"{mjcf.joint_names[first]}_follows")
    terms, value = [Term(mjcf.joint_names[first])], constant + float(m.qpos0[m.jnt_qposadr[first]])
    if second >= 0:
        reference = float(m.qpos0[m.jnt_qposadr[second]])
        if any(rest):
            shifted = Polynomial([0.0, slope, *rest])(Polynomial([-reference, 1.0]))
            terms.append(Term(mjcf.joint_names[second], -1.0, curve=Curve(polynomial=tuple(shifted.coef.tolist()))))
        elif slope != 0.0:
            value -= slope * reference
            terms.append(Term(mjcf.joint_names[second], -slope))
    with mjcf.locating_errors(name, "joint"):
        return Coupling(title, tuple(terms), value, value)


def _tendon_coupling(mjcf: Mjcf, tendon: int) -> Coupling:
    m, name = mjcf.model, mjcf.model.tendon(tendon).name
    low, high = (float(bound) for bound in m.tendon_range[tendon])
    with mjcf.locating_errors(name, "fixed"):
        terms = [Term(mjcf.joint_names[joint], factor) for joint, factor in tendon_terms(mjcf, tendon).items()]
        return Coupling(mjcf.link_names.take(name or f"tendon_{tendon}"), tuple(terms), low, high)
