"""Captured clips and robots that others made, beside the repository: an optional extra check.

A test that reads them has the marker `real_data`, and is left out of the collection where the folder is missing.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
BVH = FOLDER / "bvh"
LOOPS = FOLDER / "loops"
MENAGERIE = FOLDER / "menagerie"
IS_HERE = FOLDER.is_dir()
