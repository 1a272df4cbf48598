"""Error messages for broken files: one sentence, with file and line.

Run: python examples/04_files_that_are_wrong.py [folder for the files]
"""

from __future__ import annotations

import sys
from pathlib import Path

import poise

BROKEN = {
    "truncated.urdf": '<robot name="r">\n  <link name="a"/>\n  <link name="b"',
    "no_such_link.urdf": (
        '<robot name="r">\n  <link name="base"/>\n  <joint name="hip" type="revolute">\n'
        '    <parent link="bass"/>\n    <child link="base"/>\n  </joint>\n</robot>\n'
    ),
    "bomb.urdf": '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<robot name="&b;"><link name="x"/></robot>\n',
    "short_row.bvh": (
        "HIERARCHY\nROOT hips\n{\n  OFFSET 0 0 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n"
        "  End Site\n  {\n    OFFSET 0 1 0\n  }\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n0 0\n"
    ),
    "typing_error.figure.toml": 'name = "x"\n\n[[body]]\nname = "a"\nmasss = 1.0\n',
}


def main(folder: Path) -> None:
    """Write each broken file and print the error that loading it raises."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in BROKEN.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        try:
            poise.load(path)
        except poise.FormatError as error:
            print(error)
            assert error.line is not None, "the line is what one looks for first"
        else:
            raise AssertionError(f"{name} loaded")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "broken"))
