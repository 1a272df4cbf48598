"""The key of the studio: stored for a day, readable by its user only."""

import os
import stat
from pathlib import Path

import pytest

from poise.web import keys
from poise.web.keys import KEY_FILE, KEY_LIFETIME, new_key, stored_key


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(keys, "user_cache", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_a_studio_that_is_started_again_has_the_same_key(cache: Path) -> None:
    key = stored_key()
    assert len(key) >= 20
    assert stored_key() == key
    assert stat.S_IMODE((cache / KEY_FILE).stat().st_mode) == 0o600


def test_an_old_key_and_one_that_others_can_read_are_replaced(cache: Path) -> None:
    key, path = stored_key(), cache / KEY_FILE
    path.chmod(0o644)
    second = stored_key()
    assert second != key
    old = path.stat().st_mtime - KEY_LIFETIME - 10.0
    os.utime(path, (old, old))
    assert stored_key() not in (key, second)


def test_no_place_for_it_is_no_reason_not_to_start(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert stored_key() != stored_key()
    assert new_key() != new_key()
