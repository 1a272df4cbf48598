"""Where every mapped part of a figure should be in every frame, before anything is solved.

Directions come from the clip and lengths from the figure: each point stands at the end of a bone of the figure's own
length that points as the clip's does. So only what the figure cannot bend to gives way, not what is longer or shorter.
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
from poise.motion.retarget.calibration import Calibration
from poise.motion.retarget.feet import FootPath, frames_from, plan_foot
from poise.motion.retarget.foot_paths import found_contacts, free_path, levelled, on_what_is_low, whole
from poise.motion.retarget.skeleton import Paths, Roles, Skeleton, pelvis_turn

CARRIED = 0.2
"""Time over which the body goes along with feet that are planted elsewhere than in the clip [s]."""

LEAP, BESIDE = 30.0, 0.5
"""Speed of a cut, in leg lengths a second, and how long before and after it nothing can be told [s]."""


@dataclass(frozen=True)
class Plan:
    """Targets for a figure over a clip, in its standing axes."""

    build: Build
    calibration: Calibration
    places: Paths
    """(frames, 3) target of each mapped joint of the clip, feet aside, carried along by feet that stand [m]."""
    trunk: Rotation | None
    """How the pelvis is turned; None where the clip does not say."""
    feet: dict[str, FootPath]
    """By side."""
    contacts: Contacts
    loose: dict[str, FootPath]
    """Feet as the clip has them: places of ankles, and directions."""
    uncarried: Paths
    """The same as the clip alone tells."""
    rate: float
    """Frames per second of the clip as it was recorded."""

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
            mapping: Which joint leads what.
            build: The figure's proportions.
            contacts: When feet stand, if that is known.
            settings: Thresholds to find it out.
            stride: Share of the scale, for steps that are shorter than legs tell.
            tempo: How fast the clip is played, as a share of how fast it was recorded.
        """
        rate = source.clip.rate / tempo
        links = {role: link.joint for role, link in mapping.by_role().items()}
        roles = (clip_roles(source.clip)[0] if build.feet else {}) | links
        calibration = Calibration.of(source, roles, build, stride)
        paths = {joint: calibration.apply(source.path_of(joint)) for joint in _joints(mapping, roles)}
        trunk = pelvis_turn(source, calibration, paths, roles)
        places = Skeleton(paths, links, build, trunk).places(mapping)
        free = {side: free_path(side, paths, roles, trunk, build) for side in build.feet}
        found = contacts or found_contacts(free, paths, roles, build, (calibration.leg, rate), settings)
        loose = levelled(free, found, source, roles)
        found = whole(found if contacts else on_what_is_low(found, loose), build)
        return Plan(build, calibration, {}, trunk, {}, found, loose, places, rate).standing_on(found)

    def standing_on(self, contacts: Contacts) -> Plan:
        """The same plan with feet that stand at other times."""
        feet = {
            side: plan_foot(
                foot, self.loose[side], contacts.heel[side], contacts.ball[side], self.rate, self.calibration.leg
            )
            for side, foot in self.build.feet.items()
        }
        shift = self._carried(feet, contacts)
        places = {joint: path + shift for joint, path in self.uncarried.items()}
        return replace(self, feet=feet, places=places, contacts=contacts)

    def unbroken(self) -> BoolArray:
        """(frames,) whether a frame is far from any cut, at which the clip jumps as no body can."""
        paths = [*self.uncarried.values(), *(foot.place for foot in self.loose.values())]
        steps = np.max([np.linalg.norm(np.diff(path, axis=0), axis=1) for path in paths], axis=0)
        cut = np.zeros(len(paths[0]), dtype=np.bool_)
        cut[1:] = steps * self.rate > LEAP * self.calibration.leg
        out: BoolArray = frames_from(cut) > BESIDE * self.rate
        return out

    def _carried(self, feet: dict[str, FootPath], contacts: Contacts) -> FloatArray:
        """(frames, 3) how far planting moves the ankles of standing feet, slowly: the body goes along [m]."""
        moved, count = np.zeros((1, 3)), np.full((1, 1), 1e-9)
        for side, path in feet.items():
            stands = contacts.standing(side)[:, None].astype(np.float64)
            ankle = path.place + path.turn.apply(self.build.feet[side].ankle)
            moved, count = moved + stands * (ankle - self.loose[side].place), count + stands
        soft = max(CARRIED * self.rate, 0.3)
        if len(count) == 1 or not (count > 0.5).any():
            return np.zeros((1, 3))
        spread = gaussian_filter1d(np.hstack([moved, count]), soft, axis=0, mode="nearest", truncate=8.0)
        shift: FloatArray = spread[:, :3] / np.maximum(spread[:, 3:], 1e-9)
        return shift


def _joints(mapping: JointMap, roles: Roles) -> set[str]:
    return {link.joint for link in mapping.links} | set(roles.values())
