"""A person made of sixty bones, as messages have them."""

from typing import Any

Bones = list[dict[str, Any]]


def person() -> Bones:
    """Sixty bones, z up, facing -y, arms spread."""
    found: Bones = []

    def bone(name: str, parent: str | None, *points: tuple[float, float, float], **more: Any) -> None:
        head, tail = (list(point) for point in points)
        found.append({"name": name, "head": head, "tail": tail, **more} | ({"parent": parent} if parent else {}))

    bone("hips", None, (0, 0, 0.95), (0, 0, 1.05))
    above, z = "hips", 1.05
    for name in ("spine1", "spine2", "spine3", "chest", "neck", "head"):
        size = 0.2 if name == "head" else 0.1
        bone(name, above, (0, 0, z), (0, 0, z + size))
        above, z = name, z + size
    bone("jaw", "head", (0, -0.02, 1.58), (0, -0.1, 1.55))
    for side, s in (("L", 1), ("R", -1)):
        bone(f"eye.{side}", "head", (0.03 * s, -0.08, 1.65), (0.03 * s, -0.1, 1.65))
        bone(f"shoulder.{side}", "chest", (0.02 * s, 0, 1.42), (0.18 * s, 0, 1.42))
        bone(f"upper_arm.{side}", f"shoulder.{side}", (0.18 * s, 0, 1.42), (0.46 * s, 0.02, 1.42))
        bone(f"forearm.{side}", f"upper_arm.{side}", (0.46 * s, 0.02, 1.42), (0.72 * s, 0, 1.42))
        bone(f"hand.{side}", f"forearm.{side}", (0.72 * s, 0, 1.42), (0.80 * s, 0, 1.42))
        for finger in range(5):
            y, parent = -0.04 + 0.02 * finger, f"hand.{side}"
            for k in range(3):
                x, name = 0.80 + 0.03 * k, f"finger{finger + 1}_{k + 1}.{side}"
                bone(name, parent, (x * s, y, 1.42), ((x + 0.03) * s, y, 1.42))
                parent = name
        bone(f"breast.{side}", "chest", (0.07 * s, -0.1, 1.3), (0.07 * s, -0.15, 1.3))
        bone(f"pelvis.{side}", "hips", (0, 0, 0.95), (0.09 * s, 0, 0.95))
        bone(f"thigh.{side}", "hips", (0.09 * s, 0, 0.95), (0.09 * s, -0.02, 0.5))
        bone(f"shin.{side}", f"thigh.{side}", (0.09 * s, -0.02, 0.5), (0.09 * s, 0, 0.08))
        bone(f"foot.{side}", f"shin.{side}", (0.09 * s, 0, 0.08), (0.09 * s, -0.12, 0.02))
        bone(f"toe.{side}", f"foot.{side}", (0.09 * s, -0.12, 0.02), (0.09 * s, -0.19, 0.02))
    return found
