"""What a client can ask, without a socket."""

import math
import re
from typing import Any

import numpy as np
import pytest

import poise
from poise.figure.model.pose import turn
from poise.service.requests import Requests
from tests.unit.service.people import person


class Client:
    """Asks in Python, with the figure of a person."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.requests = Requests(self.events.append, self.events.append)
        self.rig = self.ask(do="figure", name="rig", bones=person())

    def ask(self, **message: Any) -> dict[str, Any]:
        answer = self.requests.answer(message)
        assert "error" not in answer, answer["error"]
        return answer

    def refused(self, **message: Any) -> str:
        answer = self.requests.answer({"id": 5, **message})
        assert answer["id"] == 5
        return str(answer["error"])

    def frames(self) -> dict[str, tuple[list[float], list[float]]]:
        """Place and rotation of all bones."""
        now = self.ask(do="pose", figure=1, give=["world"])
        return dict(
            zip(self.rig["bones"], zip(now["heads"].tolist(), now["frames"].tolist(), strict=True), strict=True)
        )

    def stand(self) -> list[float]:
        """Pin both feet and pull a hand; returns where the hand is."""
        frames = self.frames()
        feet = [
            {"kind": "frame", "site": foot, "name": foot, "at": frames[foot][0], "turned": frames[foot][1]}
            for foot in ("foot.L", "foot.R")
        ]
        hand = {"kind": "position", "site": "hand.R", "name": "hand", "at": frames["hand.R"][0], "priority": 2}
        near = {"kind": "near_posture", "posture": {}}
        assert self.ask(do="tasks", figure=1, tasks=[*feet, hand], criteria=[near])["tasks"] == [
            "foot.L",
            "foot.R",
            "hand",
        ]
        return frames["hand.R"][0]


@pytest.fixture
def client() -> Client:
    return Client()


def test_a_hand_is_pulled_while_the_feet_stand(client):
    x, y, z = client.stand()
    before = client.frames()
    for k in range(30):
        client.ask(do="solve", figure=1, targets={"hand": [x + 0.01 * k, y - 0.01 * k, z - 0.01 * k]})
    after = client.frames()
    np.testing.assert_allclose(after["hand.R"][0], [x + 0.29, y - 0.29, z - 0.29], atol=1e-6)
    for foot in ("foot.L", "foot.R"):
        np.testing.assert_allclose(after[foot][0], before[foot][0], atol=1e-9)


def test_the_answer_is_the_pose_that_poise_itself_finds(client):
    x, y, z = client.stand()
    found = client.ask(
        do="solve", figure=1, targets={"hand": [x, y - 0.3, z]}, steps=40, give=["bones", "world", "joints"]
    )
    figure = client.requests._figures[1].figure
    begin = figure.frames(figure.neutral())
    hand = poise.Position("hand.R", at=[x, y, z], priority=2)
    feet = [poise.Frame(foot, begin[foot]) for foot in ("foot.L", "foot.R")]
    near = poise.NearPosture(figure.neutral())
    own = poise.Solver(figure, [*feet, hand], criteria=[near], step=poise.engine.problem.StepSize(min_gain=1e-6))
    own.target(hand, np.array([x, y - 0.3, z]))
    posture = figure.neutral()
    for _ in range(found["steps"]):
        posture = own.step(posture)
    for name, value in found["joints"].items():
        np.testing.assert_allclose(value, np.atleast_1d(posture[name]), atol=1e-12)
    elbow = client.rig["bones"].index("forearm.R")
    np.testing.assert_allclose(abs(found["rotations"][elbow] @ posture["forearm.R"]), 1.0, atol=1e-12)
    np.testing.assert_allclose(found["heads"][elbow], figure.pose_of("forearm.R", posture).position, atol=1e-12)


def test_a_pose_that_was_answered_can_be_sent_back(client):
    client.stand()
    there = client.ask(do="solve", figure=1, targets={"hand": [-0.5, -0.3, 1.2]}, give=["bones", "joints"])
    client.ask(do="pose", figure=1, pose={"joints": {name: [1, 0, 0, 0] for name in client.rig["bones"][1:]}})
    pose = {"rotations": there["rotations"].tolist(), "locations": {"hips": there["locations"]["hips"].tolist()}}
    back = client.ask(do="pose", figure=1, pose=pose, give=["joints"])
    for name, value in there["joints"].items():
        np.testing.assert_allclose(back["joints"][name], value, atol=1e-12)


def test_a_posture_that_is_kept_may_be_a_pose(client):
    arm = client.rig["bones"].index("upper_arm.L")
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (60, 1))
    rotations[arm] = turn("z", 20.0)
    client.ask(do="tasks", figure=1, tasks=[{"kind": "hold", "posture": {}, "name": "keep"}])
    found = client.ask(do="solve", figure=1, targets={"keep": {"rotations": rotations}}, steps=50)
    np.testing.assert_allclose(found["rotations"][arm], rotations[arm], atol=1e-6)
    assert "has no bone 'hed'" in client.refused(
        do="solve", figure=1, targets={"keep": {"rotations": {"hed": [1, 0, 0, 0]}}}
    )


def test_settling_says_what_became_of_each_task(client):
    client.stand()
    found = client.ask(do="settle", figure=1, targets={"hand": [-9, 0, 1]})
    assert found["status"] != "solved"
    assert [each["met"] for each in found["verdicts"]] == [True, True, False]
    assert "hand" in found["report"]


def test_figures_come_by_name_and_as_text(client, tmp_path):
    client.ask(do="figure", built_in="adelino")
    poise.load("adelino").save(tmp_path / "lamp.figure.toml")
    text = (tmp_path / "lamp.figure.toml").read_text(encoding="utf-8")
    lamp = client.ask(do="figure", text=text)
    assert lamp["figure"] == 3
    assert lamp["freedoms"] == poise.load("adelino").nv
    found = client.ask(
        do="pose", figure=3, give=["joints"], pose={"joints": {"Y1": 0.25}} if "Y1" in lamp["bones"] else {}
    )
    assert found["joints"]


def clip(client: Client, frames: int = 8) -> dict[str, Any]:
    """A clip in which the right arm is lifted, and the hips move."""
    names = client.rig["bones"]
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(names), 1))
    for k in range(frames):
        rotations[k, names.index("upper_arm.R")] = turn("x", 5.0 * k)
    return {"rate": 30.0, "rotations": rotations, "locations": {"hips": np.linspace([0, 0, 0], [0.1, 0, 0], frames)}}


def test_a_gaze_keeps_the_rest_of_the_clip(client):
    given = clip(client)
    at = [1.0, -3.0, 1.2]
    found = client.ask(do="gaze", figure=1, bone="head", axis="-z", at=at, clip=given)["clip"]
    head, names = client.rig["bones"].index("head"), client.rig["bones"]
    assert found["rate"] == 30.0
    assert np.abs(found["rotations"][:, head] - given["rotations"][:, head]).max() > 0.02
    for bone in ("upper_arm.R", "thigh.L", "hips", "finger1_1.R"):
        kept = np.sum(found["rotations"][:, names.index(bone)] * given["rotations"][:, names.index(bone)], axis=-1)
        np.testing.assert_allclose(np.abs(kept), 1.0, atol=1e-9)
    np.testing.assert_allclose(found["locations"]["hips"], given["locations"]["hips"], atol=1e-12)
    for rotation, place in zip(found["rotations"], found["locations"]["hips"], strict=True):
        client.ask(do="pose", figure=1, pose={"rotations": rotation, "locations": {"hips": place}})
        position, quaternion = client.frames()["head"]
        sight = poise.figure.Pose(position, quaternion).matrix @ [0, 0, -1]
        wanted = np.subtract(at, position)
        assert math.acos(min(1.0, sight @ wanted / np.linalg.norm(wanted))) < 1e-3


def test_a_chain_of_hinges_gazes_with_its_expression(client):
    bones = [
        {"name": "base", "head": [0, 0, 0], "tail": [0, 0, 0.1], "moves": False, "limits": {"x": [0, 0], "z": [0, 0]}}
    ]
    for k, axis in enumerate("xxzxy"):
        locked = {other: [0, 0] for other in "xyz" if other != axis}
        parent = bones[-1]["name"]
        bones.append(
            {
                "name": f"b{k}",
                "parent": parent,
                "head": [0, 0, 0.1 + 0.2 * k],
                "tail": [0, 0, 0.3 + 0.2 * k],
                "limits": locked,
            }
        )
    lamp = client.ask(do="figure", bones=bones, up="z")
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (5, len(bones), 1))
    found = client.ask(
        do="gaze", figure=lamp["figure"], bone="b4", at=[1.0, 0.5, 0.8], clip={"rate": 30, "rotations": rotations}
    )
    client.ask(do="pose", figure=lamp["figure"], pose={"rotations": found["clip"]["rotations"][-1]})
    now = client.ask(do="pose", figure=lamp["figure"], give=["world"])
    sight = poise.figure.Pose(now["heads"][-1], now["frames"][-1]).matrix @ [0, 1, 0]
    wanted = np.subtract([1.0, 0.5, 0.8], now["heads"][-1])
    assert sight @ wanted / np.linalg.norm(wanted) > 0.9


def test_a_clip_of_one_figure_is_performed_by_another(client):
    small = person()
    for bone in small:
        bone["head"] = [0.5 * value for value in bone["head"]]
        bone["tail"] = [0.5 * value for value in bone["tail"]]
    other = client.ask(do="figure", name="small", bones=small)["figure"]
    found = client.ask(do="retarget", figure=other, **{"from": 1}, clip=clip(client, 12))
    rotations = found["clip"]["rotations"]
    assert rotations.shape == (12, 60, 4)
    arm = client.rig["bones"].index("upper_arm.R")
    assert 2.0 * math.acos(min(1.0, abs(rotations[-1, arm] @ rotations[0, arm]))) > math.radians(30.0)
    moved = found["clip"]["locations"]["hips"][-1] - found["clip"]["locations"]["hips"][0]
    assert np.abs(moved).max() > 0.01


def test_servos_follow_postures_that_are_sent_to_them(client):
    arm = client.ask(do="figure", built_in="arm")["figure"]
    answer = client.ask(do="servos", figure=arm, to="firmata:/dev/none", dry_run=True)
    assert len(answer["servos"]) == poise.load("arm").nv
    client.ask(do="pose", figure=arm, servos=True)
    robot = client.requests.servos._robots[arm]
    assert robot._target is not None
    assert client.ask(do="stop", figure=arm)["stopped"]
    assert robot.state == "closed"
    assert not client.ask(do="stop", figure=arm)["stopped"]


def test_a_figure_rests_although_the_same_targets_come_again_and_again(client):
    frames = client.frames()
    lifted = np.add(frames["foot.R"][0], [0.0, 0.0, 0.3])
    places = {"foot.L": frames["foot.L"][0], "foot.R": lifted.tolist()}
    tasks = [
        {"kind": "frame", "site": foot, "name": foot, "at": at, "turned": frames[foot][1]}
        for foot, at in places.items()
    ]
    behind = {"kind": "look_at", "site": "head", "name": "look", "at": [-5.0, 5.0, 1.6], "axis": "-z"}
    hand = {"kind": "position", "site": "hand.R", "name": "hand", "at": frames["hand.R"][0]}
    client.ask(do="tasks", figure=1, tasks=[*tasks, behind, hand])
    targets = {foot: [*at, *frames[foot][1]] for foot, at in places.items()}
    targets |= {"look": behind["at"], "hand": hand["at"]}
    for _ in range(100):
        if client.ask(do="solve", figure=1, targets=targets, steps=4)["steps"] < 4:
            return
    pytest.fail("the figure does not come to rest")


def test_servos_of_another_figure_at_the_same_address_are_let_go_first(client, monkeypatch):
    opened: list[str] = []

    class Exclusive:
        def __init__(self, figure: poise.Figure) -> None:
            self.servos, self.driver, self.state = [], self, "closed"
            self.name, self.figure = "exclusive", figure

        def start(self, at: poise.Posture) -> None:
            assert not opened, "the port is open already"
            opened.append(self.figure.name)

        def stop(self) -> None:
            opened.clear()

    monkeypatch.setattr("poise.service.servos.connect", lambda where, figure, *rest, **more: Exclusive(figure))
    arm = client.ask(do="figure", built_in="arm")["figure"]
    lamp = client.ask(do="figure", built_in="adelino")["figure"]
    for figure, name in ((arm, "arm"), (arm, "arm"), (lamp, "adelino")):
        client.ask(do="servos", figure=figure, to="serial:/dev/one", dry_run=False)
        assert opened == [name]
    assert "has no servos yet" in client.refused(do="pose", figure=arm, servos=True)
    assert client.ask(do="stop", figure=lamp)["stopped"]


def test_servos_can_be_listed_and_are_stopped_when_the_client_goes(client):
    arm = client.ask(do="figure", built_in="arm")["figure"]
    joint = next(joint.name for joint in poise.load("arm").joints if joint.nq == 1)
    servo = {"joint": joint, "channel": 3, "speed": 20.0}
    found = client.ask(do="servos", figure=arm, to="firmata:/dev/none", servos=[servo])
    assert found["servos"] == [joint]
    robot = client.requests.servos._robots[arm]
    client.requests.close()
    assert robot.state == "closed"
    assert "there is no figure" in client.refused(do="pose", figure=arm)


def test_people_move_naturally_unless_something_else_is_asked_for(client):
    """A hand pulled to the floor in front of the feet: with straight legs the body bows, people bend their knees."""
    frames = client.frames()
    feet = [
        {"kind": "frame", "site": foot, "at": frames[foot][0], "turned": frames[foot][1]}
        for foot in ("foot.L", "foot.R")
    ]
    hand = {"kind": "position", "site": "hand.R", "name": "hand", "at": [-0.25, -0.45, 0.2], "priority": 2}
    assert client.rig["person"]
    heights = {}
    for word, more in {
        "natural": {},
        "asked for": {"criteria": [], "natural": True},
        "off": {"natural": False},
        "others": {"criteria": [{"kind": "near_posture", "posture": {}}]},
    }.items():
        client.ask(do="tasks", figure=1, tasks=[*feet, hand], **more)
        client.ask(do="pose", figure=1, pose={"rotations": [[1, 0, 0, 0]] * 60, "locations": {"hips": [0, 0, 0]}})
        client.ask(do="settle", figure=1)
        heights[word] = client.frames()["hips"][0][2]
    assert heights["natural"] == heights["asked for"]
    assert heights["natural"] < min(heights["off"], heights["others"]) - 0.05
    lamp = client.ask(do="figure", built_in="adelino")
    assert not lamp["person"]
    assert "must be true or false" in client.refused(do="tasks", figure=1, tasks=[], natural=1)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({}, "has no 'do'"),
        ({"do": "jump"}, "'do' of the message is 'jump'"),
        ({"do": "solve", "figure": 9}, "there is no figure 9; yours: 1."),
        ({"do": "solve", "figure": True}, "there is no figure True"),
        ({"do": "figure"}, "one of 'bones', 'text'"),
        ({"do": "figure", "built_in": "humn"}, "Did you mean 'human'"),
        ({"do": "figure", "text": "up = 3"}, "1: the file has no 'name'"),
        ({"do": "figure", "bones": [3]}, "bone 1 must be a table"),
        ({"do": "tasks", "figure": 1, "tasks": [{"kind": "positon", "site": "head"}]}, "Did you mean 'position'"),
        ({"do": "tasks", "figure": 1, "tasks": [{"kind": "position", "site": "hed", "at": [0, 0, 0]}]}, "'hed'"),
        ({"do": "tasks", "figure": 1, "tasks": [{"kind": "position", "site": "head", "at": [0, "x", 0]}]}, "'at'"),
        ({"do": "tasks", "figure": 1, "task": []}, "unknown key 'task'"),
        ({"do": "solve", "figure": 1, "targets": {"hnd": [0, 0, 0]}}, "has no task 'hnd'. Did you mean 'hand'"),
        ({"do": "solve", "figure": 1, "targets": {"hand": [0, 0]}}, "hand"),
        ({"do": "solve", "figure": 1, "targets": {"hand": [0, 0, math.nan]}}, "the target of task 'hand'"),
        ({"do": "solve", "figure": 1, "targets": {"hand": "far"}}, "far"),
        ({"do": "solve", "figure": 1, "targets": [1]}, "'targets'"),
        ({"do": "solve", "figure": 1, "steps": 0}, "'steps' is a whole number from 1 to 1000"),
        ({"do": "solve", "figure": 1, "give": ["everything"]}, "'give' lists some of bones, world, joints"),
        ({"do": "solve", "figure": 1, "servos": True}, "has no servos yet"),
        ({"do": "solve", "figure": 1, "pose": {"rotations": {"hed": [1, 0, 0, 0]}}}, "has no bone 'hed'"),
        ({"do": "solve", "figure": 1, "pose": {"rotations": {"head": [0, 0, 0, 0]}}}, "is zero"),
        ({"do": "solve", "figure": 1, "pose": {"locations": {"head": [0, 0, 0]}}}, "no bone that moves 'head'"),
        ({"do": "retarget", "figure": 1, "from": 1}, "has no 'clip'"),
        (
            {"do": "gaze", "figure": 1, "bone": "head", "at": [0, 0, 0], "clip": {"rate": 1, "rotations": []}},
            "rotations",
        ),
        ({"do": "servos", "figure": 1, "to": "nowhere"}, "names no robot"),
    ],
)
def test_bad_input_is_answered_by_a_sentence_and_loses_nothing(client, message, sentence):
    client.stand()
    before = client.requests._figures[1]
    kept = (before.posture, before.tasks, before._solver)
    assert re.search(sentence, client.refused(**message))
    after = client.requests._figures[1]
    assert (after.posture, after.tasks, after._solver) == kept
    assert client.ask(do="solve", figure=1)["steps"] >= 1


def test_a_message_with_one_wrong_target_moves_none(client):
    x, y, z = client.stand()
    client.refused(do="solve", figure=1, targets={"hand": [x, y - 0.2, z], "foot.L": [0, 0]})
    client.ask(do="solve", figure=1)
    np.testing.assert_allclose(client.frames()["hand.R"][0], [x, y, z], atol=1e-6)


def test_a_figure_that_is_forgotten_is_gone(client):
    client.ask(do="forget", figure=1)
    assert "there is no figure 1; yours: none." in client.refused(do="pose", figure=1)
