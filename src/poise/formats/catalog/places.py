"""Where packages keep robots on this machine. Nothing is downloaded and no package of robots is imported or cloned.

* *MuJoCo Menagerie*: the folder in the environment variable `MENAGERIE_ROOT`, or the models that the package
  `mujoco-menagerie` has fetched.
* *robot_descriptions*: the repositories in its cache. Its modules clone their repository when they are imported; they
  are therefore read as text.
* *example-robot-data*: the folder that the package installs.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

_CLONED = re.compile(r"_clone_to_cache\(\s*[\"']([^\"']+)[\"']")
_CACHE_PATH = re.compile(r"[\"']([^\"']+)[\"']: Repository\((?:[^()]|\([^()]*\))*?cache_path=[\"']([^\"']+)[\"']")
_MODEL_PATHS = ("MJCF_PATH", "URDF_PATH")


def menagerie_models() -> dict[str, Path]:
    """MJCF files of MuJoCo Menagerie by the name of their folder, such as "unitree_h1"."""
    root = os.environ.get("MENAGERIE_ROOT")
    if root:
        return dict(_models_in(Path(root)))
    return dict(_fetched_models())


def _models_in(root: Path) -> Iterator[tuple[str, Path]]:
    if not root.is_dir():
        return
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        found = main_model(folder)
        if found is not None:
            yield folder.name, found


def _fetched_models() -> Iterator[tuple[str, Path]]:
    """Models in the cache of the package `mujoco-menagerie`; a folder there is named after the robot and a digest."""
    if find_spec("mujoco_menagerie") is None:
        return
    models = _menagerie_cache() / "models"
    for folder in sorted(models.iterdir()) if models.is_dir() else ():
        name, _, _ = folder.name.rpartition("-")
        found = main_model(folder, name) if name and (folder / ".complete").is_file() else None
        if found is not None:
            yield name, found


def _menagerie_cache() -> Path:
    given = os.environ.get("MENAGERIE_CACHE_DIR")
    if given:
        return Path(given)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData/Local") / "mujoco_menagerie" / "cache"
    if sys.platform == "darwin":
        return home / "Library/Caches/mujoco_menagerie"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "mujoco_menagerie"


def main_model(folder: Path, name: str = "") -> Path | None:
    """The MJCF of the robot itself in a folder of Menagerie, not a scene or a variant of it; None if there is none.

    It is the file whose name is the longest that the folder's name contains, as in unitree_g1/g1.xml.
    """
    files = [path for path in sorted(folder.glob("*.xml")) if not re.search(r"scene|mjx|keyframe", path.stem)]
    named = [path for path in files if path.stem in (name or folder.name)]
    return max(named, key=lambda path: len(path.stem)) if named else next(iter(files), None)


def described_robots() -> dict[str, Path]:
    """Files of `robot_descriptions` that are in its cache, by the name of their module, such as "g1_description"."""
    spec = find_spec("robot_descriptions")
    if spec is None or not spec.submodule_search_locations:
        return {}
    package = Path(next(iter(spec.submodule_search_locations)))
    cache = Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")).expanduser()
    if not cache.is_dir():
        return {}
    try:
        clones = dict(_CACHE_PATH.findall((package / "_repositories.py").read_text("utf-8")))
    except OSError:
        return {}
    found = {}
    for module in sorted(package.glob("*_description.py")):
        text = module.read_text("utf-8")
        repository = _CLONED.search(text)
        clone = cache / clones.get(repository[1], "") if repository else None
        if clone is not None and clone.is_dir() and clone != cache:
            path = _path_in(text, clone)
            if path is not None and path.is_file():
                found[module.stem] = path
    return found


def _path_in(text: str, clone: Path) -> Path | None:
    """The path of the model that a module of `robot_descriptions` joins from the folder of its clone."""
    known: dict[str, Path] = {"REPOSITORY_PATH": clone}
    for statement in ast.parse(text).body:
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        call = statement.value if isinstance(statement, ast.AnnAssign) else None
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or ast.unparse(call.func) != "_path.join":
            continue
        words: list[Path | str] = []
        for word in call.args:
            if isinstance(word, ast.Name) and word.id in known:
                words.append(known[word.id])
            elif isinstance(word, ast.Constant) and isinstance(word.value, str):
                words.append(word.value)
        if len(words) == len(call.args):
            known[target.id] = Path(*words)
    return next((known[name] for name in _MODEL_PATHS if name in known), None)


def example_robots() -> Path | None:
    """The folder of the robots of `example-robot-data`; None if it is not installed."""
    places = [Path(sys.prefix) / "share/example-robot-data/robots"]
    try:
        installed = distribution("example-robot-data")
        places.insert(0, Path(str(installed.locate_file("cmeel.prefix/share/example-robot-data/robots"))))
    except PackageNotFoundError:
        pass
    shares = [Path(p) / "share" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    places += [share / "example-robot-data/robots" for share in shares]
    return next((place for place in places if place.is_dir()), None)
