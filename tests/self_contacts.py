"""Contacts between the parts of a figure, found by MuJoCo.

Every rigid part of a figure becomes a free body of a MuJoCo model with the collision shapes of the figure's file.
Meshes are replaced by their convex hulls, as MuJoCo does. The bodies are put where a posture has them, and MuJoCo
finds their contacts. Parts that a joint connects are not compared, as in MuJoCo. Pairs that touch in the neutral
posture and in more than a third of a hundred random ones overlap by design.
"""

from collections import Counter, defaultdict

import mujoco
import numpy as np

from poise.figure.collision.collisions import node_frames
from poise.figure.collision.pairs import joined_nodes
from poise.figure.collision.solids import body_solids
from poise.kernels.distances import solids as kinds

RANDOM_POSTURES = 100
SHAPES = {
    kinds.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE,
    kinds.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE,
    kinds.BOX: mujoco.mjtGeom.mjGEOM_BOX,
    kinds.CYLINDER: mujoco.mjtGeom.mjGEOM_CYLINDER,
    kinds.ELLIPSOID: mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}


class Judge:
    """MuJoCo's contacts between the parts of a figure."""

    def __init__(self, figure):
        self.figure, spec = figure, mujoco.MjSpec()
        solids = body_solids(figure)
        self.nodes = sorted({solid.node for solid in solids})
        bodies = {node: spec.worldbody.add_body(name=str(node)) for node in self.nodes}
        self.owners = defaultdict(list)
        for body in bodies.values():
            body.add_freejoint()
            body.mass, body.inertia, body.explicitinertial = 1.0, [1.0, 1.0, 1.0], True
        for k, solid in enumerate(solids):
            self.owners[solid.node].append(solid.owner)
            geom = bodies[solid.node].add_geom(name=str(k), pos=solid.pose.position, quat=solid.pose.rotation)
            x, y, z = solid.size
            if solid.kind in SHAPES:
                geom.type = SHAPES[solid.kind]
                geom.size = [x, z, 0.0] if solid.kind in (kinds.CAPSULE, kinds.CYLINDER) else [x, y, z]
            else:
                spec.add_mesh(name=f"mesh{k}", uservert=solid.vertices.ravel().tolist())
                geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_MESH, f"mesh{k}"
        for pair in joined_nodes(figure, solids):
            if len(pair) == 2 and pair <= set(self.nodes):
                a, b = pair
                spec.add_exclude(bodyname1=str(a), bodyname2=str(b))
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        touched = Counter(pair for seed in range(RANDOM_POSTURES) for pair in self.depths(figure.random(seed)))
        self.by_design = {p for p in self.depths(figure.neutral()) if touched[p] > RANDOM_POSTURES / 3}

    def depths(self, posture):
        """Greatest depth of penetration of each pair of parts in a posture [m]."""
        position, rotation = node_frames(self.figure, posture)
        self.data.qpos[:] = np.concatenate([np.r_[position[n], rotation[n]] for n in self.nodes])
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        found = {}
        for contact in self.data.contact[: self.data.ncon]:
            a, b = (int(self.model.body(self.model.geom_bodyid[g]).name) for g in contact.geom)
            pair = (min(a, b), max(a, b))
            found[pair] = max(found.get(pair, 0.0), -float(contact.dist))
        return found

    def name(self, pair):
        return " – ".join(self.owners[node][0] for node in pair)

    def deep(self, posture, depth=0.01):
        """Pairs that do not overlap by design and are deeper than `depth`, with their depths [m]."""
        return {p: d for p, d in self.depths(posture).items() if d > depth and p not in self.by_design}
