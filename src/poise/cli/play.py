"""`poise play`: animate a figure in real time and send its frames to the terminal, over OSC, or to a real robot."""

from __future__ import annotations

import itertools
import math
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from poise.cli.console import print_note, print_result, stderr
from poise.cli.play_live import (
    PICTURES_PER_SECOND,
    Choices,
    FilterName,
    LivePlay,
    SolverName,
    make_filter,
    make_solver,
    pressed_keys,
)
from poise.cli.play_motion import Output, has_dependent_joints, motion_of, play_unfiltered
from poise.cli.show import FigureArgument, load_figure, parsed_posture
from poise.errors import PoiseError

if TYPE_CHECKING:
    from poise.chains.targets import Gaze
    from poise.character.character import Character
    from poise.figure.model.figure import Figure, PostureLike
    from poise.figure.model.posture import Posture
    from poise.motion.clip.motion import Motion
    from poise.robots.robot import Robot

TOUR_INTERVAL = 2.5
"""Time each named posture is held when no clip or posture is given [s]."""


def play(  # noqa: PLR0913 - one argument per option
    figure: FigureArgument,
    *,
    clip: Annotated[
        Path | None,
        typer.Option("--clip", help="Play a motion: .csv, .json or .npz; .bvh and .glb are retargeted first."),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--from", help="Follow a performer: vmc:PORT, or vmc:HOST:PORT to listen to other machines than this one."
        ),
    ] = "",
    loop: Annotated[bool, typer.Option("--loop", help="Repeat the clip.")] = False,
    posture: Annotated[
        str, typer.Option("--posture", "-p", help="Hold a posture: a name or joint=value pairs, see poise show --help.")
    ] = "",
    face: Annotated[str, typer.Option("--face", help="Look in this direction x,y,z, for example 1,0.3,0.5.")] = "",
    at: Annotated[str, typer.Option("--at", help="Look at this point x,y,z in metres, for example 0.4,0.5,1.")] = "",
    solver: Annotated[
        SolverName, typer.Option("--solver", help="Solver that keeps the posture while the figure looks.")
    ] = SolverName.EXPRESSIVE,
    filter_name: Annotated[
        FilterName,
        typer.Option("--filter", help="The motion filter, which decides how the figure moves between postures."),
    ] = FilterName.FAST,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Show the figure in the terminal; keys change what it does.")
    ] = True,
    idle: Annotated[
        float, typer.Option("--idle", help="Amount of idle movement such as breathing, from 0 to 1.")
    ] = 0.0,
    robot: Annotated[
        str,
        typer.Option(
            "--robot",
            help="Move a robot's servos: firmata:/dev/ttyACM0, dynamixel:/dev/ttyUSB0@1000000, serial:/dev/ttyUSB0 or "
            "osc:HOST:PORT.",
        ),
    ] = "",
    servos: Annotated[
        Path | None, typer.Option("--servos", help="TOML file that maps joints to servos; see docs/robots.md.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --robot: print the servo commands instead of sending them.")
    ] = False,
    listen: Annotated[
        int | None, typer.Option("--listen", help="Accept commands as OSC messages on this UDP port.")
    ] = None,
    send: Annotated[str, typer.Option("--send", help="Send every frame as OSC messages to HOST:PORT.")] = "",
    rate: Annotated[float, typer.Option("--rate", help="Frames per second.")] = 60.0,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.0, help="Stop after this many seconds; default: at Ctrl-C.")
    ] = None,
) -> None:
    """Animate a figure in real time: hold postures, play clips and look at things, always inside its joint limits.

    [bold]poise play adelino[/] cycles through its named postures and shows them; stop it with q or Ctrl-C.

    In a terminal, keys 1 to 9 choose a posture, arrow keys turn the gaze, s and f change the solver and the filter.

    [bold]poise play adelino --clip dance.csv --loop --face 1,0.3,0.5[/] dances while it looks to one side.

    [bold]poise play human --clip walk.bvh[/] retargets the clip to the human, then plays it.

    [bold]poise play g1 --from vmc:39539[/] follows a performer whose bones come by the VMC protocol (OSC over UDP).

    [bold]poise play adelino --robot firmata:/dev/ttyACM0 --servos lamp.toml[/] moves real servos, slowly at first.

    [bold]poise play adelino --robot firmata:/dev/ttyACM0 --dry-run[/] prints the servo commands and moves nothing.

    [bold]poise play adelino --listen 9001 --send 127.0.0.1:9000[/] reacts to OSC messages such as /hold sad.
    """
    from poise.character.character import Character

    chosen = load_figure(figure)
    if source:
        if clip or posture or face or at or idle or listen is not None or loop:
            raise PoiseError("--from goes with --robot, --send, --rate and --seconds, not with other things to play.")
        _run_stream(chosen, source, (robot, servos, send), rate=rate, seconds=seconds, dry_run=dry_run)
        return
    motion = None if clip is None else motion_of(clip, chosen)
    chosen = chosen if motion is None else motion.figure
    if (
        motion is not None
        and has_dependent_joints(chosen)
        and not (posture or face or at or idle or listen is not None)
    ):
        _run_motion(motion, (robot, servos, send), rate=rate, seconds=seconds, loop=loop, dry_run=dry_run)
        return
    clips = {} if clip is None or motion is None else {clip.stem: motion}
    outputs: list[Output] = []

    def make(by: SolverName, motion_filter: FilterName, start: PostureLike | None) -> Character:
        """A character with the chosen solver and filter, which plays and looks as asked."""
        made = Character(
            chosen,
            posture=start,
            idle=idle,
            clips=clips,
            on_event=print_note,
            solver=make_solver(by, chosen),
            filter=make_filter(motion_filter),
        )
        made.outputs = outputs
        for name in clips:
            made.play(name, loop=loop)
        if face or at:
            made.face(_target(face, at))
        return made

    live = make(solver, filter_name, parsed_posture(posture, chosen))
    keys = LivePlay(chosen, make, Choices(solver, filter_name, posture if posture in chosen.posture_names else ""))
    with ExitStack() as open_things:
        _connect(open_things, live.figure, outputs, robot, servos, dry_run=dry_run)
        if listen is not None:
            ear = live.listen(listen)
            open_things.callback(ear.close)
            print_note(f"listening for OSC on port {ear.port}.")
        if send:
            host, port = _host_and_port(send)
            open_things.callback(live.send_to(host, port).close)
        tour = None if clip or posture or listen is not None else _posture_tour(chosen)
        may_change = listen is None and not send  # those belong to one character
        _run_character(live, rate, seconds, tour, keys if picture and may_change and not dry_run else None)


def _connect(
    open_things: ExitStack, figure: Figure, outputs: list[Output], robot: str, servos: Path | None, *, dry_run: bool
) -> None:
    if not robot:
        if servos is not None or dry_run:
            raise PoiseError("--servos and --dry-run need --robot, such as --robot firmata:/dev/ttyACM0.")
        return
    from poise.robots import connect

    device = connect(robot, figure, servos, dry_run=dry_run, say=print_result, on_event=print_note)
    open_things.enter_context(_stopped_by_interrupt(device))
    open_things.enter_context(device)
    outputs.append(device.write)
    print_note(f"{device.driver.name}: {len(device.servos)} servos, moving slowly at first.")


@contextmanager
def _stopped_by_interrupt(robot: Robot) -> Iterator[None]:
    """Make Ctrl-C stop the robot at once, before solvers and threads end, which may take a while."""
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
    """Play a motion unfiltered to a robot and over OSC, and show joint angles in a status line on a terminal."""
    with _outputs(motion.figure, to, dry_run=dry_run) as outputs:
        _show(play_unfiltered(motion, outputs, rate=rate, seconds=seconds, loop=loop), shown=not dry_run)


def _run_stream(
    figure: Figure, source: str, to: tuple[str, Path | None, str], *, rate: float, seconds: float | None, dry_run: bool
) -> None:
    """Follow a stream, and pass its frames on as `_run_motion` does."""
    from poise.cli.play_stream import play_stream

    with _outputs(figure, to, dry_run=dry_run) as outputs:
        _show(play_stream(figure, source, outputs, rate=rate, seconds=seconds), shown=not dry_run)


@contextmanager
def _outputs(figure: Figure, to: tuple[str, Path | None, str], *, dry_run: bool) -> Iterator[list[Output]]:
    """The robot and the receiver of OSC to which frames go."""
    from poise.character.osc import OscOut

    robot, servos, send = to
    outputs: list[Output] = []
    with ExitStack() as open_things:
        _connect(open_things, figure, outputs, robot, servos, dry_run=dry_run)
        if send:
            sender = OscOut(figure.name, *_host_and_port(send), outputs)
            open_things.callback(sender.close)
            outputs.append(sender.send)
        yield outputs


def _show(frames: Iterator[Posture], *, shown: bool) -> None:
    """Go through frames; on a terminal, show some joint angles in a status line."""
    from rich.status import Status

    status = Status("", console=stderr())
    shown = shown and stderr().is_terminal
    with status if shown else nullcontext():
        for k, frame in enumerate(frames):
            if shown and k % 6 == 0:
                status.update(_status_line(frame))


def _run_character(
    live: Character, rate: float, seconds: float | None, tour: Iterator[str] | None, keys: LivePlay | None
) -> None:
    """Play a character's frames until the end; on a terminal, show the figure and do what keys ask."""
    from rich.live import Live

    from poise.character.clock import frame_rate

    shown = stderr().is_terminal and keys is not None
    period = 1.0 / frame_rate(rate)
    every = max(1, round(rate / PICTURES_PER_SECOND))
    changes, done, missed, solves = -1, 0, 0, 0
    view = Live(console=stderr(), transient=True, auto_refresh=False)
    with pressed_keys() if shown else nullcontext(list) as pressed, view if shown else nullcontext():
        while True:
            now = live
            with now:
                left = None if seconds is None else max(seconds - done * period, 0.0)
                for frame in now.frames(rate, seconds=left):
                    if tour is not None and int(done * period / TOUR_INTERVAL) > changes:
                        changes = int(done * period / TOUR_INTERVAL)
                        now.hold(next(tour))
                    done += 1
                    if not shown or keys is None or done % every:
                        continue
                    for key in pressed():
                        tour = None
                        live = keys.press(key, live)
                    view.update(keys.picture(frame, _status_line(frame)), refresh=True)
                    if live is not now or keys.choices.ended:
                        break
            missed, solves = missed + now.clock.missed, solves + now.solves
            if live is now:
                break
    print_result(f"{done} frames at {rate:g} Hz, {missed} skipped, {solves} solves.")


def _status_line(frame: Posture) -> str:
    named = ((name, value) for name in frame if isinstance(value := frame[name], float))
    return "  ".join(f"{name} {math.degrees(value):+.0f}°" for name, value in itertools.islice(named, 8))


def _posture_tour(figure: Figure) -> Iterator[str] | None:
    return itertools.cycle(figure.posture_names) if figure.posture_names else None


def _target(face: str, at: str) -> Gaze:
    from poise.chains.targets import at as looking_at
    from poise.chains.targets import facing

    if face and at:
        raise PoiseError("--face and --at both say where to look: give one of them.")
    return facing(_three_numbers(face, "--face"), None) if face else looking_at(_three_numbers(at, "--at"), None)


def _three_numbers(text: str, option: str) -> list[float]:
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
