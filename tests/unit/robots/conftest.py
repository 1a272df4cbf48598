"""Serial lines for the tests of robots."""

import pytest

from tests.unit.robots.emulated import Cable


@pytest.fixture
def plugged(tmp_path):
    """Plug a device in; at the end of the test it is unplugged."""
    cables = []

    def plug(device):
        cables.append(Cable(tmp_path / f"tty{len(cables)}", device))
        return cables[-1]

    yield plug
    for cable in cables:
        if cable.path.is_symlink():
            cable.unplug()
