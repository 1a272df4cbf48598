"""Reads which joints of a MuJoCo model have motors, and the greatest force of each motor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from poise.formats.mjcf.model import JOINT_KINDS, Mjcf

_JOINT_TRANSMISSION, _JOINT_IN_PARENT_TRANSMISSION, _TENDON_TRANSMISSION = 0, 1, 3
# Values of mjtTrn.


@dataclass(frozen=True)
class Motors:
    """Strengths of the motors of a model, by joint."""

    strengths: dict[int, float]
    """Greatest torque [N m] or force [N] of the motors on each joint that has one."""
    caps: dict[int, float]
    """Limit of a joint on the torque or force of its motors [N m or N]."""

    def drives(self, joint: int) -> bool:
        """Whether the joint has a motor; in a model without motors every joint counts as driven."""
        return not self.strengths or joint in self.strengths

    def strength(self, joint: int) -> float:
        """Greatest torque or force of the motors at a joint [N m or N]."""
        return min(self.strengths.get(joint, math.inf), self.caps.get(joint, math.inf))


def read_motors(mjcf: Mjcf) -> Motors:
    """Read the actuators that act on joints, directly or through a fixed tendon."""
    m = mjcf.model
    strengths: dict[int, float] = {}
    for actuator in range(m.nu):
        for joint, lever in _driven(mjcf, actuator):
            force = _largest(m.actuator_forcerange[actuator]) if m.actuator_forcelimited[actuator] else math.inf
            strengths[joint] = strengths.get(joint, 0.0) + (lever * force if lever * force > 0.0 else math.inf)
    limited = [joint for joint in range(m.njnt) if m.jnt_actfrclimited[joint]]
    return Motors(strengths, {joint: _largest(m.jnt_actfrcrange[joint]) or math.inf for joint in limited})


def _largest(interval: object) -> float:
    return float(np.abs(np.asarray(interval, dtype=np.float64)).max())


def _driven(mjcf: Mjcf, actuator: int) -> Iterator[tuple[int, float]]:
    """Joints that an actuator drives, each with the ratio of the joint's force to the actuator's."""
    m = mjcf.model
    kind, target = int(m.actuator_trntype[actuator]), int(m.actuator_trnid[actuator][0])
    gear = m.actuator_gear[actuator]
    if kind in (_JOINT_TRANSMISSION, _JOINT_IN_PARENT_TRANSMISSION):
        ball = JOINT_KINDS[m.jnt_type[target]] == "ball"
        yield target, float(np.linalg.norm(gear[:3])) if ball else abs(float(gear[0]))
    elif kind == _TENDON_TRANSMISSION:
        for joint, factor in tendon_terms(mjcf, target).items():
            yield joint, abs(float(gear[0]) * factor)


def tendon_terms(mjcf: Mjcf, tendon: int) -> dict[int, float]:
    """Coefficients of a fixed tendon's length, a linear combination of joint values, by joint."""
    m = mjcf.model
    first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    terms: dict[int, float] = {}
    for wrap in range(first, first + count):
        joint = int(m.wrap_objid[wrap])
        terms[joint] = terms.get(joint, 0.0) + float(m.wrap_prm[wrap])
    return {joint: factor for joint, factor in terms.items() if factor != 0.0}
