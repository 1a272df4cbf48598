"""Folders of the package stay small, and the unit tests are arranged like the source."""

from pathlib import Path

import poise

SOURCE, TESTS = Path(poise.__file__).parent, Path(__file__).parent
MOST_MODULES = 22


def test_no_folder_has_many_modules():
    folders = [SOURCE, *(path.parent for path in SOURCE.rglob("__init__.py"))]
    counts = {folder: sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in folders}
    assert len(counts) > 50
    assert {str(folder.relative_to(SOURCE)): n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_every_folder_of_unit_tests_is_one_of_the_source():
    folders = [path.parent.relative_to(TESTS) for path in TESTS.rglob("__init__.py")]
    assert len(folders) > 30
    assert [str(folder) for folder in folders if not (SOURCE / folder / "__init__.py").is_file()] == []


def test_every_package_has_unit_tests():
    packages = [path.parent.name for path in SOURCE.glob("*/__init__.py")]
    assert [name for name in packages if not list((TESTS / name).rglob("test_*.py"))] == []
