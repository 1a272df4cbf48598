"""Plans the targets of every mapped part of a figure in every frame, before the motion is solved.

Directions of bones come from the clip and lengths from the figure: each target is at the end of a bone of the figure's
own length that points as the clip's bone does. So targets are out of reach only where joints cannot bend as the clip
does, not because limbs are shorter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from poise.figure.model.pose import FloatArray
from poise.motion.clip.contacts import BoolArray, Contacts, ContactSettings
from poise.motion.clip.source import Source
from poise.motion.mapping.mapping import JointMap, clip_roles
from poise.motion.retarget.build import Build
from poise.motion.retarget.calibration import Calibration, Paths, Roles, Skeleton, pelvis_rotation
from poise.motion.retarget.feet import FootPath, frames_to_nearest, plan_foot
from poise.motion.retarget.foot_paths import (
    clip_foot_path,
    detect_contacts,
    reassign_tipped_contacts,
    rigid_foot_contacts,
    without_rest_pitch,
)

BODY_SHIFT_TIME = 0.2
"""Standard deviation in time of the Gaussian that smooths the shift of the body with its planted feet [s]."""
CUT_SPEED = 30.0
"""Speed of a joint from which two consecutive frames are a cut of the recording [leg lengths / s]."""
CUT_MARGIN_TIME = 0.5
"""Time before and after a cut in which contacts are not counted [s]."""


@dataclass(frozen=True)
class Plan:
    """Targets for a figure over a clip, in standing axes."""

    build: Build
    calibration: Calibration
    places: Paths
    """(frames, 3) target of each mapped joint of the clip except feet, shifted with the planted feet [m]."""
    trunk: Rotation | None
    """Rotation of the pelvis in every frame; None if the clip's skeleton has no pelvis and pair of joints."""
    feet: dict[str, FootPath]
    """Planned paths of the feet, by side."""
    contacts: Contacts
    clip_feet: dict[str, FootPath]
    """Paths of the feet as in the clip, by side; their `place` is that of the ankle."""
    unshifted_places: Paths
    """(frames, 3) target of each mapped joint before the shift with the planted feet [m]."""
    rate: float
    """Frames per second at which the clip was recorded."""

    @staticmethod
    def of(
        source: Source,
        mapping: JointMap,
        build: Build,
        contacts: Contacts | None = None,
        settings: ContactSettings | None = None,
        *,
        stride: float = 1.0,
        tempo: float = 1.0,
    ) -> Plan:
        """Plan a whole clip.

        Args:
            source: The clip.
            mapping: Which joint of the clip drives which site.
            build: The figure's proportions.
            contacts: When feet stand; None to detect it.
            settings: Thresholds of the detection.
            stride: Factor on the scale, below 1 for steps shorter than the ratio of the legs.
            tempo: Playback speed as a share of the recorded speed.
        """
        rate = source.clip.rate / tempo
        links = {role: link.joint for role, link in mapping.by_role().items()}
        roles = (clip_roles(source.clip)[0] if build.feet else {}) | links
        calibration = Calibration.of(source, roles, build, stride)
        paths = {joint: calibration.apply(source.path_of(joint)) for joint in _joints_needed(mapping, roles)}
        trunk = pelvis_rotation(source, calibration, paths, roles)
        places = Skeleton(paths, links, build, trunk).places(mapping)
        raw_feet = {side: clip_foot_path(side, paths, roles, trunk, build) for side in build.feet}
        found = contacts or detect_contacts(raw_feet, paths, roles, build, (calibration.leg, rate), settings)
        clip_feet = without_rest_pitch(raw_feet, found, source, roles)
        found = rigid_foot_contacts(found if contacts else reassign_tipped_contacts(found, clip_feet), build)
        return Plan(build, calibration, {}, trunk, {}, found, clip_feet, places, rate).with_contacts(found)

    def with_contacts(self, contacts: Contacts) -> Plan:
        """This plan with other contacts."""
        feet = {
            side: plan_foot(
                foot, self.clip_feet[side], contacts.heel[side], contacts.ball[side], self.rate, self.calibration.leg
            )
            for side, foot in self.build.feet.items()
        }
        shift = self._body_shift(feet, contacts)
        places = {joint: path + shift for joint, path in self.unshifted_places.items()}
        return replace(self, feet=feet, places=places, contacts=contacts)

    def away_from_cuts(self) -> BoolArray:
        """(frames,) whether a frame is away from cuts, where the recording jumps faster than a body can move."""
        paths = [*self.unshifted_places.values(), *(foot.place for foot in self.clip_feet.values())]
        steps = np.max([np.linalg.norm(np.diff(path, axis=0), axis=1) for path in paths], axis=0)
        cut = np.zeros(len(paths[0]), dtype=np.bool_)
        cut[1:] = steps * self.rate > CUT_SPEED * self.calibration.leg
        out: BoolArray = frames_to_nearest(cut) > CUT_MARGIN_TIME * self.rate
        return out

    def _body_shift(self, feet: dict[str, FootPath], contacts: Contacts) -> FloatArray:
        """(frames, 3) shift of the body [m]: the mean shift of the ankles by planting, smoothed over time."""
        moved, count = np.zeros((1, 3)), np.full((1, 1), 1e-9)
        for side, path in feet.items():
            stands = contacts.standing(side)[:, None].astype(np.float64)
            ankle = path.place + path.turn.apply(self.build.feet[side].ankle)
            moved, count = moved + stands * (ankle - self.clip_feet[side].place), count + stands
        soft = max(BODY_SHIFT_TIME * self.rate, 0.3)
        if len(count) == 1 or not (count > 0.5).any():
            return np.zeros((1, 3))
        spread = gaussian_filter1d(np.hstack([moved, count]), soft, axis=0, mode="nearest", truncate=8.0)
        shift: FloatArray = spread[:, :3] / np.maximum(spread[:, 3:], 1e-9)
        return shift


def _joints_needed(mapping: JointMap, roles: Roles) -> set[str]:
    return {link.joint for link in mapping.links} | set(roles.values())
