"""The page that is shown until the studio can be, and what the studio says while kernels are compiled."""

import json
import urllib.error
import urllib.request

import pytest

from poise.errors import NotReadyError
from poise.figures import built_in
from poise.studio.server.waiting import PROGRESS_PATH, WaitingPage
from poise.studio.session.outcome import NOT_READY
from poise.studio.session.readiness import Readiness
from poise.studio.session.session import Session
from poise.studio.session.stepping import SolverThread
from poise.studio.wire.rehearsal import rehearse
from poise.studio.wire.viewport import point
from poise.web.listening import listening


def test_the_waiting_page_shows_the_progress_and_leaves_the_socket_to_the_studio() -> None:
    with listening("127.0.0.1", 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with WaitingPage(listener, lambda: Readiness(0.25, "Getting ready: 25%")):
            with urllib.request.urlopen(address + PROGRESS_PATH) as answer:
                assert json.load(answer) == [0.25, "Getting ready: 25%"]
            with pytest.raises(urllib.error.HTTPError) as page:
                urllib.request.urlopen(address)
            assert page.value.code == 503
            assert PROGRESS_PATH in page.value.read().decode()
        assert listener.fileno() >= 0


def test_a_rehearsal_changes_nothing() -> None:
    session = Session(built_in("human"))
    before = session.state
    rehearse(session)
    assert session.state is before


def test_a_step_that_is_not_ready_is_said_and_taken_later(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(built_in("human"))
    step = session.stepper.step
    monkeypatch.setattr("poise.studio.session.stepping.RETRY_INTERVAL", 0.0)
    monkeypatch.setattr(session.stepper, "step", _refuse)
    thread = SolverThread(session)
    assert thread._tick()
    assert thread._tick()
    assert session.state.outcome == NOT_READY
    assert session.state.step == 1
    assert not session.rests
    monkeypatch.setattr(session.stepper, "step", step)
    while thread._tick():
        pass
    assert session.state.outcome.light == "green"


def test_a_pin_that_is_not_ready_is_refused_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(built_in("human"))
    before = session.state
    monkeypatch.setattr(session.stepper, "prepare", _refuse)
    point(session, "page", {"do": "pin", "figure": before.figure_number, "body": 3, "point": [0.0, 0.0, 0.0]})
    assert session.state.scene is before.scene
    assert session.state.outcome == NOT_READY
    while session.tick():
        pass
    assert session.state.outcome != NOT_READY


def _refuse(*states: object) -> None:
    raise NotReadyError("getting ready: this works in a moment.")
