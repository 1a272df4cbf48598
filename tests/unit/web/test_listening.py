import socket

import pytest

from poise.errors import PoiseError
from poise.web.listening import is_local, listening


def test_a_busy_port_gives_way_to_the_next_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        taken = busy.getsockname()[1]
        with listening("127.0.0.1", taken) as found:
            assert taken < found.getsockname()[1] <= taken + 50


def test_port_0_lets_the_system_choose() -> None:
    with listening("127.0.0.1", 0) as found:
        assert found.getsockname()[1] > 0


@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [("127.0.0.1", -1, "from 0 to 65535"), ("no such host", 0, "cannot listen"), ("192.0.2.1", 0, "cannot listen")],
)
def test_where_one_cannot_listen_the_reason_is_given(host: str, port: int, reason: str) -> None:
    with pytest.raises(PoiseError, match=reason):
        listening(host, port)


def test_local_addresses() -> None:
    assert all(map(is_local, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_local, ("0.0.0.0", "::", "192.168.1.2", "desk.example")))
