"""Sockets to listen at: the wanted port, or the next free one."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from poise.errors import PoiseError

PORTS_TRIED = 50
"""Ports that are tried, one after another, if the wanted one is in use."""
LAST_PORT = 65535


def listening(host: str, port: int, who: str = "the studio") -> socket.socket:
    """A socket that listens at `port`, or at the next free port; `who` listens, for error messages."""
    if not 0 <= port <= LAST_PORT:
        raise PoiseError(f"a port is a number from 0 to {LAST_PORT}, not {port}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + PORTS_TRIED, LAST_PORT + 1)):
        try:
            return socket.create_server((host, candidate), family=family)
        except OSError as problem:
            reason = problem
            if isinstance(problem, socket.gaierror):
                break
    raise PoiseError(f"{who} cannot listen at {host}, port {port}: {reason.strerror or reason}.")


def is_local(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_in_address(host: str) -> str:
    """A host as it is written in an address."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
