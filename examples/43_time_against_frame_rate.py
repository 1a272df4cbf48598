"""The same dance at 30 to 1200 frames per second: time and error per frame.

After [Schumacher et al. 2021, fig. 6c]. Run: python examples/43_time_against_frame_rate.py [folder for the pictures]
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure as Sheet

from poise.evaluation.loops.evaluation import built, run

RATES = (30.0, 60.0, 120.0, 300.0, 600.0, 1200.0)
SECONDS = 2.0


def main(folder: Path) -> None:
    """Dance at every rate."""
    rows = {rate: run(built("Dancer"), SECONDS, rate) for rate in RATES}
    for rate, row in rows.items():
        print(f"{rate:6.0f} per second: {row.milliseconds:.3f} ms, {row.largest:.1e} mm at most, open by {row.gap:.0e}")
        assert row.gap < 1e-9
    assert rows[1200.0].largest < 2.46e-5, "the paper's error"
    assert rows[30.0].largest < 10.0, "one step per frame lags behind where frames are far apart, and catches up"

    folder.mkdir(parents=True, exist_ok=True)
    sheet = Sheet(figsize=(6.0, 3.4), layout="constrained")
    axes = sheet.subplots()
    axes.plot(RATES, [row.milliseconds for row in rows.values()], "o-", color="#1f5fd0")
    axes.set(xlabel="frames per second", ylabel="ms per frame", xlim=(0.0, None), ylim=(0.0, None))
    axes.grid(alpha=0.3)
    sheet.savefig(folder / "time_against_frame_rate.png", dpi=110)
    print(f"See {folder / 'time_against_frame_rate.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
