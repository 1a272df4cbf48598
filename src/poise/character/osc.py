"""Control of a character by Open Sound Control (OSC), and output of its frames, for Max, TouchDesigner or games.

| message | meaning | |---|---| | `/hold name [blend]` | take a posture by its name | | `/posture v …` | take a posture
of joint values [rad or m] | | `/face x y z` | look in a direction | | `/face w x y z` | face an orientation | | `/at x
y z` | look at a point [m] | | `/free` | remove the target | | `/play name [loop]` | play one of the character's clips |
| `/stop` | end the clip | | `/idle amount` | set the amount of idle motion |

The figure's name may precede each message: `/adelino/hold sad`. An invalid message changes nothing; the error is
reported as an event and sent back as `/error text`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.chains.targets import at
from poise.character.udp import UdpReceiver, UdpSender
from poise.errors import PoiseError, TaskError
from poise.figure.model.names import listing, suggestion
from poise.figure.model.posture import Posture
from poise.formats.osc import Argument, Message, bundle, decode, encode

if TYPE_CHECKING:
    from poise.character.character import Character


def handle_message(character: Character, message: Message) -> None:
    """Execute one message, or raise a PoiseError that says what is wrong with it."""
    word = message.address.removeprefix(f"/{character.figure.name}").strip("/")
    arguments = message.arguments
    if word not in OSC_ACTIONS:
        known = [f"/{action}" for action in OSC_ACTIONS]
        hint = suggestion(message.address, known)
        raise TaskError(f"no OSC message {message.address}.{hint} Messages: {listing(known)}.")
    OSC_ACTIONS[word](character, f"/{word}", arguments)


def _hold(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    name, *rest = _shaped(what, arguments, "s", "sf", says="a posture's name and perhaps a blend [s]")
    character.hold(str(name), *_numbers(rest))


def _posture(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    count = character.figure.nq
    character.hold(_numbers(_shaped(what, arguments, "f" * count, says=f"{count} joint values")))


def _face(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    says = "a direction x y z or a quaternion w x y z"
    character.face(_numbers(_shaped(what, arguments, "fff", "ffff", says=says)))


def _at(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    character.face(at(_numbers(_shaped(what, arguments, "fff", says="a point x y z")), roll=None))


def _free(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    _shaped(what, arguments, "", says="nothing")
    character.face(None)


def _play(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    name, *loop = _shaped(what, arguments, "s", "sf", says="a clip's name and perhaps 1 to loop it")
    character.play(str(name), loop=bool(loop and loop[0]))


def _stop(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    _shaped(what, arguments, "", says="nothing")
    character.stop()


def _idle(character: Character, what: str, arguments: tuple[Argument, ...]) -> None:
    character.idle(_numbers(_shaped(what, arguments, "f", says="an amount from 0 to 1"))[0])


OSC_ACTIONS: dict[str, Callable[[Character, str, tuple[Argument, ...]], None]] = {
    "hold": _hold,
    "posture": _posture,
    "face": _face,
    "at": _at,
    "free": _free,
    "play": _play,
    "stop": _stop,
    "idle": _idle,
}
"""The function of each message."""


def _shaped(what: str, arguments: tuple[Argument, ...], *shapes: str, says: str) -> tuple[Argument, ...]:
    """The arguments, if they are texts (s) and numbers (f) of one of the shapes; otherwise raises an error."""
    given = "".join(
        "s" if isinstance(value, str) else "f" if isinstance(value, int | float) else "?" for value in arguments
    )
    if given not in shapes:
        shown = " ".join(map(repr, arguments)) or "nothing"
        raise TaskError(f"OSC message {what} takes {says}, not {shown}.")
    return arguments


def _numbers(arguments: tuple[Argument, ...] | list[Argument]) -> list[float]:
    return [float(value) for value in arguments if isinstance(value, int | float)]


class OscIn:
    """Receives messages on a UDP port, in its own thread."""

    def __init__(self, character: Character, host: str, port: int, report: Callable[[str], object]) -> None:
        """Start to listen."""
        self._character, self._report = character, report
        self.heard = 0
        """Number of packets received, valid or not."""
        self._receiver = UdpReceiver("OSC", host, port, self._take)
        self.port = self._receiver.port

    def close(self) -> None:
        """Stop listening."""
        self._receiver.close()

    def _take(self, packet: bytes) -> bytes | None:
        """Execute the messages in a packet; returns the bytes of an error message if one is wrong."""
        try:
            for message in decode(packet):
                handle_message(self._character, message)
        except PoiseError as problem:
            self._report(str(problem))
            return encode("/error", [str(problem).replace("\0", " ")])
        finally:
            self.heard += 1
        return None


class OscOut:
    """Sends frames over UDP, each as a bundle of `/figure/joint value …` with all values of a joint in one message."""

    def __init__(self, name: str, host: str, port: int, outputs: list[Callable[[Posture], object]]) -> None:
        """Resolve the address of the receiver, which need not exist yet; closing removes `send` from `outputs`."""
        self._name, self._outputs = name, outputs
        self._sender = UdpSender("OSC", host, port)

    def send(self, posture: Posture) -> None:
        """Send one frame; a datagram without a receiver is lost."""
        messages = (encode(f"/{self._name}/{joint}", np.atleast_1d(posture[joint]).tolist()) for joint in posture)
        self._sender.send(bundle(messages))

    def close(self) -> None:
        """Stop sending."""
        with contextlib.suppress(ValueError):
            self._outputs.remove(self.send)
        self._sender.close()
