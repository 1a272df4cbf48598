"""`poise play`: a figure that lives, on the screen of this terminal, over OSC, or on a real robot."""

from __future__ import annotations

import itertools
import math
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from poise.cli.compiling import compiling_noted
from poise.cli.console import answer, remark, remarks
from poise.cli.play_motion import FrameSender, Output, is_bound, motion_of, play_as_it_is
from poise.cli.show import FigureArgument, loaded, parsed_posture
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.chains.targets import Gaze
    from poise.character.character import Character
    from poise.figure.model.figure import Figure
    from poise.figure.model.posture import Posture
    from poise.motion.clip.motion import Motion
    from poise.robots.robot import Robot

TOUR = 2.5
"""Time for each posture when nothing else is asked for [s]."""


def play(  # noqa: PLR0913 - one argument per option
    figure: FigureArgument,
    *,
    clip: Annotated[
        Path | None, typer.Option("--clip", help="A motion: .csv, .json, .npz; .bvh, .glb are retargeted.")
    ] = None,
    loop: Annotated[bool, typer.Option("--loop", help="Play it again and again.")] = False,
    posture: Annotated[str, typer.Option("--posture", "-p", help="The posture to hold, as for poise show.")] = "",
    face: Annotated[str, typer.Option("--face", help="Look in a direction: 1,0.3,0.5.")] = "",
    at: Annotated[str, typer.Option("--at", help="Look at a point in metres: 0.4,0.5,1.")] = "",
    idle: Annotated[float, typer.Option("--idle", help="Breathe a little: 0 to 1.")] = 0.0,
    robot: Annotated[
        str,
        typer.Option(
            "--robot",
            help="Servos: firmata:/dev/ttyACM0, dynamixel:/dev/ttyUSB0@1000000, serial:/dev/ttyUSB0, osc:HOST:PORT.",
        ),
    ] = "",
    servos: Annotated[Path | None, typer.Option("--servos", help="A TOML file of servos; see docs/robots.md.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what the robot would be told.")] = False,
    listen: Annotated[int | None, typer.Option("--listen", help="Take wishes as OSC messages on this port.")] = None,
    send: Annotated[str, typer.Option("--send", help="Send every frame as OSC to HOST:PORT.")] = "",
    rate: Annotated[float, typer.Option("--rate", help="Frames per second.")] = 60.0,
    seconds: Annotated[float | None, typer.Option("--seconds", help="How long; until Ctrl-C by default.")] = None,
) -> None:
    """Bring a figure to life: it holds, plays and looks, smoothly and inside its limits always.

    [bold]poise play adelino[/] goes through its postures; Ctrl-C ends it.

    [bold]poise play adelino --clip dance.csv --loop --face 1,0.3,0.5[/]

    [bold]poise play human --clip walk.bvh[/] retargets the clip first, and plays it as it is.

    [bold]poise play adelino --robot firmata:/dev/ttyACM0 --servos lamp.toml[/] moves real servos, slowly at first.

    [bold]poise play adelino --robot firmata:/dev/ttyACM0 --dry-run[/] prints what they would be told.

    [bold]poise play adelino --listen 9001 --send 127.0.0.1:9000[/] is driven by OSC messages such as /hold sad.
    """
    with compiling_noted():
        from poise.character.character import Character

        chosen = loaded(figure)
        motion = None if clip is None else motion_of(clip, chosen)
        chosen = chosen if motion is None else motion.figure
    if motion is not None and is_bound(chosen) and not (posture or face or at or idle or listen is not None):
        _run_motion(motion, (robot, servos, send), rate=rate, seconds=seconds, loop=loop, dry_run=dry_run)
        return
    with compiling_noted():
        live = Character(chosen, posture=parsed_posture(posture, chosen), idle=idle, on_event=remark)
        if clip is not None and motion is not None:
            live.clips[clip.stem] = motion
            live.play(motion, loop=loop)
        if face or at:
            live.face(_target(face, at))
    with ExitStack() as open_things:
        _connect(open_things, live.figure, live.outputs, robot, servos, dry_run=dry_run)
        if listen is not None:
            ear = live.listen(listen)
            open_things.callback(ear.close)
            remark(f"listening for OSC on port {ear.port}.")
        if send:
            host, port = _host_and_port(send)
            open_things.callback(live.send_to(host, port).close)
        tour = None if clip or posture or listen is not None else _tour(chosen)
        _run(live, rate, seconds, tour, silent=dry_run)


def _connect(
    open_things: ExitStack, figure: Figure, outputs: list[Output], robot: str, servos: Path | None, *, dry_run: bool
) -> None:
    if not robot:
        if servos is not None or dry_run:
            raise PoiseError("--servos and --dry-run go with --robot, such as --robot firmata:/dev/ttyACM0.")
        return
    from poise.robots import connect

    device = connect(robot, figure, servos, dry_run=dry_run, say=answer, on_event=remark)
    open_things.enter_context(_stopped_by_interrupt(device))
    open_things.enter_context(device)
    outputs.append(device.write)
    remark(f"{device.driver.name}: {len(device.servos)} servos, slowly at first.")


@contextmanager
def _stopped_by_interrupt(robot: Robot) -> Iterator[None]:
    """Let Ctrl-C stop a robot before anything else ends: solvers may take a while."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        robot.stop()
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_motion(
    motion: Motion,
    to: tuple[str, Path | None, str],
    *,
    rate: float,
    seconds: float | None,
    loop: bool,
    dry_run: bool,
) -> None:
    """Frames of a motion as they are, to a robot and over OSC, with a line that shows them on a terminal."""
    from rich.status import Status

    robot, servos, send = to
    status = Status("", console=remarks())
    shown = remarks().is_terminal and not dry_run
    outputs: list[Output] = []
    with ExitStack() as open_things:
        _connect(open_things, motion.figure, outputs, robot, servos, dry_run=dry_run)
        if send:
            sender = FrameSender(motion.figure.name, *_host_and_port(send))
            open_things.callback(sender.close)
            outputs.append(sender.send)
        if shown:
            open_things.enter_context(status)
        for k, frame in enumerate(play_as_it_is(motion, outputs, rate=rate, seconds=seconds, loop=loop)):
            if shown and k % 6 == 0:
                status.update(_line(frame))


def _run(live: Character, rate: float, seconds: float | None, tour: Iterator[str] | None, *, silent: bool) -> None:
    """Frames until the end, with a line that shows them on a terminal."""
    from rich.status import Status

    status = Status("", console=remarks())
    shown = remarks().is_terminal and not silent
    changes = -1
    with live, status if shown else ExitStack():
        for k, frame in enumerate(live.frames(rate, seconds=seconds)):
            if tour is not None and int(k / rate / TOUR) > changes:
                changes = int(k / rate / TOUR)
                live.hold(next(tour))
            if shown and k % 6 == 0:
                status.update(_line(frame))
    clock = live.clock
    answer(f"{clock.ticks - clock.missed} frames at {rate:g} Hz, {clock.missed} left out, {live.solves} solves.")


def _line(frame: Posture) -> str:
    named = ((name, value) for name in frame if isinstance(value := frame[name], float))
    return "  ".join(f"{name} {math.degrees(value):+.0f}°" for name, value in itertools.islice(named, 8))


def _tour(figure: Figure) -> Iterator[str] | None:
    return itertools.cycle(figure.posture_names) if figure.posture_names else None


def _target(face: str, at: str) -> Gaze:
    from poise.chains.targets import at as looking_at
    from poise.chains.targets import facing

    if face and at:
        raise PoiseError("--face and --at are two places to look: give one of them.")
    return facing(_three(face, "--face"), None) if face else looking_at(_three(at, "--at"), None)


def _three(text: str, option: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3:
        raise PoiseError(f"{option} takes three numbers such as 1,0.3,0.5, not {text!r}.")
    return numbers


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise PoiseError(f"--send takes a host and a port such as 127.0.0.1:9000, not {text!r}.")
    return host, int(port)
