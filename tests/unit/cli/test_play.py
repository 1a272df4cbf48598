"""`poise play`: postures, dry runs, OSC, an emulated board, and errors about wrong options."""

import os
import socket
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest

import poise
from poise.character.character import Character
from poise.cli.app import run
from poise.cli.play_live import FilterName, LivePlay, SolverName, keys_in, make_filter, make_solver
from poise.cli.play_stream import vmc_address
from poise.formats.osc import decode
from poise.motion.clip.clip import Clip
from tests.unit.formats.performer import packet, performer

SHORT = ["--seconds", "0.4"]


def test_alone_it_goes_through_its_postures(capsys):
    assert run(["play", "adelino", *SHORT]) == 0
    assert capsys.readouterr().out.startswith("24 frames at 60 Hz")


def test_a_dry_run_prints_every_command(capsys):
    assert run(["play", "adelino", "--robot", "firmata:/dev/nowhere", "--dry-run", "-p", "happy", *SHORT]) == 0
    out, err = capsys.readouterr()
    assert "turn +0.0° → 2:1472" in out
    assert len(out.splitlines()) > 5
    assert "dry run of firmata (firmata on /dev/nowhere): 5 servos" in err


def test_a_clip_is_played_and_sent(tmp_path, capsys):
    lamp = poise.load("adelino")
    clip = Clip(lamp, np.full((30, 5), 0.25), 30.0, "lean")
    path = tmp_path / "lean.csv"
    from poise.formats.table.table import write_table

    write_table(clip, path)
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5.0)
    to = f"127.0.0.1:{receiver.getsockname()[1]}"
    assert run(["play", "adelino", "--clip", str(path), "--loop", "--send", to, "--seconds", "1.5"]) == 0
    frames = [decode(receiver.recv(4096)) for _ in range(80)]
    receiver.close()
    assert [message.address for message in frames[0]] == [f"/adelino/{name}" for name in lamp.joints.names]
    assert np.allclose([message.arguments[0] for message in frames[-1]], 0.25, atol=0.01)


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")
def test_real_servos_are_moved(tmp_path, capsys):
    pytest.importorskip("serial", reason="robots on serial lines need pyserial")
    from tests.unit.robots.emulated import Arduino, Cable

    board = Arduino()
    cable = Cable(tmp_path / "ttyACM0", board)
    assert run(["play", "adelino", "--robot", f"firmata:{cable.path}", "-p", "sad", "--seconds", "2"]) == 0
    cable.unplug()
    assert board.modes == dict.fromkeys(range(2, 7), 4)
    assert len(board.moves) > 100


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--face", "1,2"], "--face takes three numbers such as 1,0.3,0.5, not '1,2'."),
        (["--at", "a,b,c"], "--at takes three numbers"),
        (["--face", "1,0,0", "--at", "1,0,0"], "give one of them"),
        (["--face", "nan,0,1"], "the direction to face"),
        (["-p", "sda"], "Did you mean 'sad'"),
        (["--dry-run"], "need --robot"),
        (["--robot", "firmta:/dev/x"], "Did you mean 'firmata'"),
        (["--robot", "firmata:/dev/nowhere"], "there is no port /dev/nowhere."),
        (["--robot", "osc:nowhere"], "such as osc:127.0.0.1:9000"),
        (["--send", "here"], "--send takes a host and a port"),
        (["--listen", "99999"], "cannot listen for OSC"),
        (["--rate", "0"], "rate of a character must be a positive number"),
        (["--clip", "nothing.csv"], "nothing.csv"),
        (["--idle", "3"], "between 0 and 1"),
    ],
)
def test_wrong_options_are_said_in_one_sentence(options, sentence, capsys):
    assert run(["play", "adelino", *options, *SHORT]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert "Traceback" not in err


def test_keys_are_read_from_what_a_terminal_sends():
    assert keys_in("2\x1b[A\x1b[Cq") == ["2", "up", "right", "q"]
    assert keys_in("") == []


def test_keys_change_posture_gaze_solver_and_filter():
    lamp = poise.load("adelino")
    made = []

    def make(solver, motion_filter, start):
        made.append((solver, motion_filter))
        return Character(lamp, posture=start, solver=make_solver(solver, lamp), filter=make_filter(motion_filter))

    keys = LivePlay(lamp, make)
    live = make(SolverName.EXPRESSIVE, FilterName.FAST, "neutral")
    for key in ("2", "left", "left", "up"):
        assert keys.press(key, live) is live
    assert keys.choices.posture == lamp.posture_names[1]
    list(live.frames(60.0, seconds=3.0, realtime=False))
    way = lamp.pose_of("tip", live.posture).matrix[:, 1]
    assert way @ keys.direction() > 0.999
    for key in ("s", "f", "s"):
        live = keys.press(key, live)
        list(live.frames(60.0, seconds=3.0, realtime=False))
        assert lamp.pose_of("tip", live.posture).matrix[:, 1] @ keys.direction() > 0.99, "it looks on"
    assert made[1:] == [("erik", "fast"), ("erik", "smooth"), ("erik-2017", "smooth")]
    assert keys.press("?", live) is live
    keys.press("p", live)
    assert keys.choices.posture == lamp.posture_names[2]
    assert not keys.choices.ended
    keys.press("q", live)
    assert keys.choices.ended


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX thing")
def test_a_terminal_shows_the_figure_and_takes_keys():
    import pty
    import select

    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="90", LINES="40")
        os.execv(sys.executable, [sys.executable, "-m", "poise", "play", "adelino", "--seconds", "60"])
    text, sent = b"", False
    with suppress(OSError):  # the terminal closes when the program ends
        while select.select([terminal], [], [], 60.0)[0] and (part := os.read(terminal, 65536)):
            text += part
            if not sent and b"quit" in text:
                os.write(terminal, b"3s\x1b[Cfq")
                sent = True
    status = os.waitpid(child, 0)[1]
    os.close(terminal)
    words = text.decode(errors="ignore")
    assert os.waitstatus_to_exitcode(status) == 0
    assert "▀" in words
    assert "solves" in words


def send_performance(port, stop):
    """Send the frames of a performer, over and over, until `stop` is set."""
    clip = performer()
    packets = [packet(clip.figure, q) for q in clip.q]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while not stop.is_set():
            for each in packets:
                sender.sendto(each, ("127.0.0.1", port))
                stop.wait(1.0 / 60.0)
                if stop.is_set():
                    break


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_robot_follows_a_performer_over_the_network(capsys):
    stop, port = threading.Event(), free_port()
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(10.0)
    sending = threading.Thread(target=send_performance, args=(port, stop))
    sending.start()
    try:
        to = f"127.0.0.1:{receiver.getsockname()[1]}"
        assert run(["play", "human", "--from", f"vmc:{port}", "--send", to, "--seconds", "8"]) == 0
        frames = [decode(receiver.recv(65536)) for _ in range(20)]
    finally:
        stop.set()
        sending.join()
        receiver.close()
    out, err = capsys.readouterr()
    assert "frames at 60 Hz" in out
    assert f"waiting for VMC frames on port {port}" in err
    assert any(message.address == "/human/left_knee" for message in frames[-1])


def test_a_stream_that_does_not_come_is_said(capsys):
    assert run(["play", "human", "--from", f"vmc:{free_port()}", "--seconds", "0.3"]) == 2
    assert "0 VMC frames came" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["vmc:", "vmc:x", "osc:1", "vmc:a:b", "vmc:1:2:3"])
def test_a_stream_is_named_by_its_port(source, capsys):
    assert run(["play", "human", "--from", source]) == 2
    assert "--from takes vmc:PORT" in capsys.readouterr().err


def test_streams_are_heard_from_this_machine_alone_unless_asked():
    assert vmc_address("vmc") == ("127.0.0.1", 39539)
    assert vmc_address("vmc:40000") == ("127.0.0.1", 40000)
    assert vmc_address("vmc:0.0.0.0:40000") == ("0.0.0.0", 40000)


def test_a_stream_goes_alone(capsys):
    assert run(["play", "human", "--from", "vmc:39539", "--face", "1,0,0"]) == 2
    assert "--from goes with" in capsys.readouterr().err
