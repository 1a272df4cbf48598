"""Draw the pictures of the documentation again, into docs/pictures: `make docs`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from poise.figures import BUILT_IN, built_in
from poise.pictures import Picture, contact_sheet, draw, strip

FOLDER = Path(__file__).parent / "pictures"
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


if __name__ == "__main__":
    main()
