"""Checks an MJCF document, and the documents that it names, before MuJoCo's compiler reads them.

MuJoCo reserves memory and time for whatever a document asks for: `<replicate count="60000">`, a cube texture of 200
bytes that takes gigabytes. Both may be in a file that is included, or in a model that is attached.
"""

from __future__ import annotations

import math
from pathlib import Path

from poise.errors import FormatError
from poise.formats.text.files import read_bytes, read_head
from poise.formats.text.xml_reader import Element, parse_xml

MOST_COPIES = 3_000
"""Largest number of bodies of a model, and of copies of one element."""
MOST_CELLS = 40_000_000
"""Largest number of cells of all height fields and textures of a model."""
MOST_ENTRIES = 1_000_000
"""Largest number of entries that <size> may reserve."""
MOST_FILES = 200
"""Largest number of documents that a model consists of."""
CUBE_FACES = 6
"""Faces of a texture of type "cube" or "skybox"."""
_CELLS = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}
_PNG = b"\x89PNG\r\n\x1a\n"


def check_document(root: Element) -> None:
    """Refuse a document that is not MJCF, has NaN, or expands to a huge model, also by the files that it names."""
    if root.tag != "mujoco":
        raise root.error(f"an MJCF file must start with <mujoco>, not with <{root.tag}>.")
    _Expansion(None if root.path is None else root.path.parent).bodies_of(root, 1.0)


class _Expansion:
    """Counts what a document and the documents that it names expand to; `home` is the folder of the first."""

    def __init__(self, home: Path | None) -> None:
        self._home, self._cells, self._files = home, 0.0, 0
        self._open: list[Path] = []

    def bodies_of(self, root: Element, copies: float) -> float:
        """The number of bodies of a document that is used so often; raises a FormatError if anything is too large."""
        self._files += 1
        if self._files > MOST_FILES:
            raise root.error(f"the model consists of more than {MOST_FILES} files.")
        attached = {
            element.node.get("name"): self._bodies_in_file(element, copies)
            for element in root.everything()
            if element.tag == "model"
        }
        bodies = 0.0
        for element in root.everything():
            _check_numbers(element)
            own = copies * _copies(element)
            bodies += own * (element.tag == "body")
            if element.tag == "attach":
                bodies += own * attached.get(element.node.get("model"), 1.0)
            elif element.tag == "include":
                bodies += self._bodies_in_file(element, own)
            if max(own, bodies) > MOST_COPIES:
                raise element.error(f"<{element.tag}> makes more than {MOST_COPIES} copies or bodies.")
            if element.tag in _CELLS:
                self._cells += _cells(element)
                if self._cells > MOST_CELLS:
                    raise element.error(f"the textures and height fields have more than {MOST_CELLS} cells.")
            if element.tag == "size" and any(_number(element, name) > MOST_ENTRIES for name in _reserved(element)):
                raise element.error(f"<size> reserves more than {MOST_ENTRIES} entries.")
        return bodies

    def _bodies_in_file(self, element: Element, copies: float) -> float:
        """The number of bodies of an included or attached document; MuJoCo reports one that cannot be read."""
        name = element.node.get("file")
        folders = {folder: None for folder in (self._home, element.path and element.path.parent) if folder is not None}
        for folder in folders if name else ():
            file = (folder / str(name)).resolve()
            if file in self._open:
                raise element.error(f"the files include each other: {name!r} is open already.")
            try:
                inside = parse_xml(read_bytes(file), file)
            except FormatError:
                continue
            self._open.append(file)
            bodies = self.bodies_of(inside, copies)
            self._open.pop()
            return bodies
        return 0.0


def _cells(element: Element) -> float:
    """Number of cells of a texture or height field: as its attributes say, or as the picture that it names does."""
    given = math.prod(_number(element, name) for name in _CELLS[element.tag])
    faces = CUBE_FACES if element.node.get("type", "cube") in ("cube", "skybox") and element.tag == "texture" else 1
    return max(faces * given, _picture_cells(element))


def _picture_cells(element: Element) -> float:
    """Number of pixels of a PNG file that a texture or height field names; 0 without one."""
    name = element.node.get("file")
    if not name or element.path is None:
        return 0.0
    for folder in _asset_folders(element):
        try:
            head = read_head(element.path.parent / folder / name, 24)
        except FormatError:
            continue
        if head.startswith(_PNG):
            return float(int.from_bytes(head[16:20]) * int.from_bytes(head[20:24]))
    return 0.0


def _asset_folders(element: Element) -> list[str]:
    """The folders in which a document looks for pictures, beside its own."""
    top = Element(element.node.getroottree().getroot(), element.path)
    names = (item.node.get(key) for item in top.children("compiler") for key in ("texturedir", "meshdir", "assetdir"))
    return ["", *(name for name in names if name)]


def _check_numbers(element: Element) -> None:
    for name, value in element.attributes().items():
        if name != "name" and "nan" in value.lower().split():
            raise element.error(f"{name} of <{element.tag}> is not a number: {value[:60]!r}.")


def _reserved(element: Element) -> list[str]:
    return [name for name in element.attributes() if name == "nkey" or name.startswith("nuser")]


def _copies(element: Element) -> float:
    """Number of copies of an element: its own `count` times those of the elements around it."""
    total, node = 1.0, element.node
    while node is not None:
        words = (node.get("count") or "").split()
        total *= math.prod(max(_as_number(word), 1.0) for word in words)
        parent = node.getparent()
        if parent is None:
            break
        node = parent
    return total


def _number(element: Element, attribute: str) -> float:
    return _as_number(element.node.get(attribute) or "")


def _as_number(text: str) -> float:
    """The number in a text, or 0 if it is not a number; MuJoCo's compiler then reports the error."""
    try:
        return float(text)
    except ValueError:
        return 0.0
