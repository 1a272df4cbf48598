"""`poise retarget FOLDER FIGURE`: retarget all animations of a folder on several cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.console import print_error, print_result
from poise.errors import FormatError, PoiseError

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.motion.clip.clip import Clip

ANIMATION_ENDINGS = (".bvh", ".gltf", ".glb")


def retarget_folder(folder: Path, figure: Figure, output: Path | None, cores: int | None, **options: Any) -> int:
    """Retarget every animation of a folder and write each to `output` as NPZ.

    Returns:
        The exit code: 0, or 2 if a clip could not be read or retargeted.
    """
    from poise.motion.report.report import measure
    from poise.motion.retarget.retarget import retarget_all

    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ANIMATION_ENDINGS)
    if not paths:
        raise FormatError(f"this folder has no animations; poise reads {', '.join(ANIMATION_ENDINGS)}.", folder)
    if output is None or output.suffix:
        raise FormatError("the motions of a folder of clips go to a folder: name one with --output.", folder)
    clips, failed = _readable_clips(paths)
    output.mkdir(parents=True, exist_ok=True)
    for path, motion in zip(clips, retarget_all(clips.values(), figure, cores=cores, **options), strict=True):
        if isinstance(motion, PoiseError):
            print_error(f"{path}: {motion}")
            failed += 1
            continue
        target = output / f"{path.stem}.npz"
        motion.save(target)
        print_result(f"{target}: {measure(motion).sentence()}")
    return 2 if failed else 0


def _readable_clips(paths: list[Path]) -> tuple[dict[Path, Clip], int]:
    """Load the clips; returns those that could be read, by path, and the number that could not."""
    from poise.formats import load_clip

    clips = {}
    for path in paths:
        try:
            clips[path] = load_clip(path)
        except PoiseError as problem:
            print_error(str(problem))
    return clips, len(paths) - len(clips)
