"""The gallery: every example and tutorial is run, and its pictures are shown beside its code."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

HEADER = "Gallery\n=======\n\nEvery example runs on its own, checks its result and writes the pictures shown here.\n"
PICTURES = (".png", ".gif")


def write_examples(source: Path, folder: Path) -> None:
    """Copy examples for the gallery, with the first sentence of each as its title, and the clips that they read."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source / "clips", folder / "clips", dirs_exist_ok=True)
    (folder / "GALLERY_HEADER.rst").write_text(HEADER, encoding="utf-8")
    for stale in {file.name for file in folder.glob("*.py")} - {file.name for file in source.glob("*.py")}:
        (folder / stale).unlink()
    for example in sorted(source.glob("*.py")):
        text = titled(example.read_text(encoding="utf-8"))
        copy = folder / example.name
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


def titled(code: str) -> str:
    """The code with the first sentence of its docstring as a heading."""
    module = ast.parse(code)
    text = ast.get_docstring(module) or ""
    first, _, rest = text.partition("\n\n")
    title = " ".join(first.split()).rstrip(".")
    end = module.body[0].end_lineno or 1
    lines = code.splitlines(keepends=True)
    return f'"""\n{title}\n{"=" * len(title)}\n\n{rest}\n"""\n' + "".join(lines[end:])


def settings(docs: Path) -> dict[str, Any]:
    """What Sphinx-Gallery has to know."""
    return {
        "examples_dirs": ["tutorials", "generated/examples"],
        "gallery_dirs": ["generated/tutorials", "generated/gallery"],
        "filename_pattern": r"/[^/]*\.py$",
        "within_subsection_order": "FileNameSortKey",
        "image_scrapers": (SavedPictures(docs / "generated" / "pictures"),),
        "reset_argv": Arguments(docs / "generated" / "pictures"),
        "capture_repr": ("_repr_html_", "__str__"),
        "ignore_repr_types": r"(Path|dict|list|tuple|NoneType)",
        "abort_on_example_error": True,
        "show_memory": False,
        "min_reported_time": 10_000,
        "remove_config_comments": True,
        "default_thumb_file": str(docs / "pictures" / "figures.png"),
    }


class Arguments:
    """Gives an example the folder for its pictures."""

    def __init__(self, pictures: Path) -> None:
        self.pictures = pictures

    def __call__(self, gallery: dict[str, Any], example: dict[str, Any]) -> list[str]:
        """The arguments of the command line: an empty folder."""
        folder = self.pictures / Path(example["src_file"]).stem
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return [str(folder)]

    def __repr__(self) -> str:
        """The same in every process, since Sphinx builds everything again if its settings change."""
        return "Arguments()"


class SavedPictures:
    """Shows the pictures that an example has saved since its last block."""

    def __init__(self, pictures: Path) -> None:
        self.pictures = pictures

    def __call__(self, block: object, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
        """The pictures in reStructuredText."""
        folder = self.pictures / Path(variables["src_file"]).stem
        found = sorted(file for file in folder.glob("**/*") if file.suffix in PICTURES)
        shown = []
        for picture, place in zip(found, variables["image_path_iterator"], strict=False):
            copy = Path(place).with_suffix(picture.suffix)
            shutil.move(picture, copy)
            shown.append(str(copy))
        return figure_rst(shown, gallery["src_dir"])  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """The same in every process."""
        return "SavedPictures()"
