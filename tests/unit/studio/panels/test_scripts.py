"""The scripts of the page: what they import exists, and a changed folder gets a new address."""

import re
from pathlib import Path

import pytest
from nicegui.dependencies import esm_modules

from poise.studio.panels.viewport import WEB

SCRIPTS = sorted(WEB.rglob("*.js"))
IMPORT = re.compile(r"import {([^}]*)} from \"poise-studio/(.+)\";")
EXPORT = re.compile(r"^export (?:async )?(?:class|const|function) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.relative_to(WEB).as_posix())
def test_what_a_script_imports_exists(script: Path) -> None:
    for names, path in IMPORT.findall(script.read_text(encoding="utf-8")):
        exported = EXPORT.findall((WEB / path).read_text(encoding="utf-8"))
        assert {name.strip() for name in names.split(",")} <= set(exported)


def test_every_folder_of_scripts_has_an_address_of_its_own() -> None:
    served = {module.path: module.name for module in esm_modules.values()}
    for folder in {script.parent for script in SCRIPTS}:
        assert served[folder] == "/".join(("poise-studio", *folder.relative_to(WEB).parts))
