"""The pantomime game: an operator picks hot, warm or cold over OSC while the lamp watches a player who walks about.

After [Ribeiro & Paiva 2017, section 5]: the lamp mimes a word, the player guesses, and the lamp's posture shows how
near the guess was, while its gaze stays on the player.

Run: python examples/33_pantomime.py [folder for the pictures]
To be the operator, run `python examples/33_pantomime.py --wizard` and type h, w or c and Enter; q ends the game.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import poise
from poise.character.osc import OscIn
from poise.formats.osc import encode
from poise.pictures import save_gif
from poise.pictures.film import film

RATE = 60.0
HINTS = {"hot": "happy", "warm": "curious", "cold": "sad"}
GAME = [(0.5, "cold"), (2.5, "warm"), (4.5, "cold"), (6.0, "warm"), (8.0, "hot")]
"""When the wizard presses which button [s]."""
SECONDS = 10.0


def face_at(time: float) -> NDArray[np.float64]:
    """Position of the face of a player who walks from side to side and leans in and out [m]."""
    return np.array([0.5 * np.sin(0.7 * time), 0.5 + 0.08 * np.sin(1.9 * time), 0.55 + 0.1 * np.cos(0.5 * time)])


def missed_by(lamp: poise.Figure, posture: poise.Posture, face: NDArray[np.float64]) -> float:
    """Angle between the gaze and the face [degrees]."""
    tip = lamp.pose_of("tip", posture)
    sight = face - tip.position
    return float(np.degrees(np.arccos(min(1.0, float(tip.matrix[:, 1] @ sight) / float(np.linalg.norm(sight))))))


def recognised(lamp: poise.Figure, shown: poise.Posture, face: NDArray[np.float64]) -> str:
    """The hint whose posture, facing the same point, is nearest to the posture shown."""
    solver, gaze = poise.Expressive(lamp), poise.at(face, roll=None)
    apart = {hint: solver.solve(name, gaze, shown).posture.q - shown.q for hint, name in HINTS.items()}
    return min(apart, key=lambda hint: float(np.linalg.norm(apart[hint][1:4])))


def press(message: bytes, wizard: socket.socket, ear: OscIn) -> None:
    """Send a message; the simulation continues once it was received."""
    before = ear.heard
    wizard.send(message)
    while ear.heard == before:
        time.sleep(0.001)


def main(folder: Path) -> None:
    """One round of the game."""
    lamp = poise.load("adelino")
    live = poise.Character(lamp, posture="attentive", idle=0.5)
    ear = live.listen(0)
    wizard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wizard.connect(("127.0.0.1", ear.port))
    cues, hint = list(GAME), ""
    postures, faces, captions = [], [], []
    for k, frame in enumerate(live.frames(RATE, seconds=SECONDS, realtime=False)):
        if cues and k / RATE >= cues[0][0]:
            hint = cues.pop(0)[1]
            press(encode("/hold", [HINTS[hint], 0.5]), wizard, ear)
        faces.append(face_at(k / RATE))
        live.face(poise.at(faces[-1], roll=None))
        postures.append(frame)
        captions.append(hint)
    wizard.close()
    ear.close()

    off = np.array([missed_by(lamp, posture, face) for posture, face in zip(postures, faces, strict=True)])[60:]
    print(f"The gaze is {np.median(off):.1f}° from the face (median), {np.percentile(off, 95):.1f}° at 95 %.")
    assert np.median(off) < 4.0
    right = sum(
        recognised(lamp, postures[k], faces[k]) == captions[k] for k in (int((t + 1.4) * RATE) for t, _ in GAME)
    )
    print(f"Of {len(GAME)} hints, {right} are told apart by the shape of its body.")
    assert right == len(GAME)
    assert not live.events

    folder.mkdir(parents=True, exist_ok=True)
    every = slice(None, None, 5)
    shots = film(
        lamp, postures[every], ball=faces[every], radius=0.05, eyes="tip", captions=captions[every], size=(320, 300)
    )
    save_gif(shots, folder / "pantomime.gif", rate=RATE / 5)
    print(f"See {folder / 'pantomime.gif'}")


def play_wizard() -> None:
    """The game in real time, with a person as the operator."""
    lamp = poise.load("adelino")
    live = poise.Character(lamp, posture="attentive", idle=0.5)
    keys = {hint[0]: name for hint, name in HINTS.items()}
    done = threading.Event()

    def listen() -> None:
        for line in sys.stdin:
            if line.strip() in keys:
                live.hold(keys[line.strip()], blend=0.5)
            elif line.strip() == "q":
                break
        done.set()

    threading.Thread(target=listen, daemon=True).start()
    for k, frame in enumerate(live.frames(RATE)):
        live.face(poise.at(face_at(k / RATE), roll=None))
        if k % 30 == 0:
            print("  ".join(f"{name} {np.degrees(float(frame[name])):+.0f}°" for name in frame), end="\r", flush=True)
        if done.is_set():
            break


if __name__ == "__main__":
    if "--wizard" in sys.argv:
        play_wizard()
    else:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
