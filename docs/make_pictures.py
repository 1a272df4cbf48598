"""Draw the pictures of the documentation again, into docs/pictures: `make docs`."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

from poise.figures import BUILT_IN, built_in
from poise.pictures import Picture, contact_sheet, draw, strip

FOLDER = Path(__file__).parent / "pictures"
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))[4:]
"""Those that draw the thesis' figures; the first four draw nothing the pages show."""
HUMAN = ["standing", "t_pose", "reaching", "waving", "walking", "crouching", "sitting", "thinking"]
ADELINO = ["neutral", "happy", "sad", "curious", "proud", "shy", "angry", "sleepy", "surprised", "confused"]
HAND = ["open", "relaxed", "point", "pinch", "fist"]


def all_figures() -> Picture:
    """Every built-in figure."""
    pictures = [(name, draw(built_in(name), size=(260, 260))) for name in BUILT_IN]
    return contact_sheet(pictures, columns=6)


def views() -> Picture:
    """The ways `poise show` can look at a figure."""
    walker = built_in("walker")
    shown = [(view, draw(walker, size=(260, 300), view=view)) for view in ("three-quarter", "front", "side", "top")]
    shown.append(("--skeleton", draw(walker, size=(260, 300), skeleton=True)))
    shown.append(("--dark", draw(walker, size=(260, 300), theme="dark")))
    return contact_sheet(shown, columns=6)


PICTURES: dict[str, Callable[[], Picture]] = {
    "figures": all_figures,
    "views": views,
    "human": lambda: strip(built_in("human"), HUMAN, size=(200, 300), joints=False),
    "adelino": lambda: strip(built_in("adelino"), ADELINO, size=(160, 220), joints=False),
    "hand": lambda: strip(built_in("hand"), HAND, size=(240, 280), view="front"),
}


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in PICTURES.items():
        path = make().save(FOLDER / f"{name}.png")
        print(os.path.relpath(path))
    for example in EXAMPLES:
        sys.argv = [str(example), str(FOLDER)]
        runpy.run_path(str(example), run_name="__main__")


if __name__ == "__main__":
    main()
