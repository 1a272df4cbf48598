"""Write the clips that the examples read, examples/clips: a walk, a dance, a wave and the cycle of a fox.

Run: python scripts/make_clips.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from poise.formats.bvh.writer import write_bvh  # noqa: E402
from tests.unit.motion.retarget.performances import dancing, fox_on_the_spot, walking, waving  # noqa: E402

CLIPS = {"walk": walking, "dance": dancing, "wave": waving, "fox": fox_on_the_spot}
"""By the name of the file, what makes it."""

if __name__ == "__main__":
    for name, made in CLIPS.items():
        write_bvh(made(), ROOT / "examples" / "clips" / f"{name}.bvh")
