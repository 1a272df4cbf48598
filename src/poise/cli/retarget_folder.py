"""`poise retarget FOLDER FIGURE`: all animations of a folder, on several cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.cli.console import answer, complain
from poise.errors import FormatError, PoiseError

if TYPE_CHECKING:
    from poise.figure.model.figure import Figure
    from poise.motion.clip.clip import Clip

ENDINGS = (".bvh", ".gltf", ".glb")


def retarget_folder(folder: Path, figure: Figure, output: Path | None, cores: int | None, **options: Any) -> int:
    """Retarget every animation of a folder into another, as NPZ; returns the exit code, 2 if one of them failed."""
    from poise.motion.report.report import measure
    from poise.motion.retarget.several import retarget_all

    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
    if not paths:
        raise FormatError(f"there are no clips in it: {', '.join(ENDINGS)}.", folder)
    if output is None or output.suffix:
        raise FormatError("the motions of a folder of clips are written to a folder: give one as --output.", folder)
    clips, failed = _loaded(paths)
    output.mkdir(parents=True, exist_ok=True)
    for path, motion in zip(clips, retarget_all(clips.values(), figure, cores=cores, **options), strict=True):
        if isinstance(motion, PoiseError):
            complain(f"{path}: {motion}")
            failed += 1
            continue
        target = output / f"{path.stem}.npz"
        motion.save(target)
        answer(f"{target}: {measure(motion).sentence()}")
    return 2 if failed else 0


def _loaded(paths: list[Path]) -> tuple[dict[Path, Clip], int]:
    """The clips that can be read, and how many cannot."""
    from poise.formats import load_clip

    clips = {}
    for path in paths:
        try:
            clips[path] = load_clip(path)
        except PoiseError as problem:
            complain(str(problem))
    return clips, len(paths) - len(clips)
