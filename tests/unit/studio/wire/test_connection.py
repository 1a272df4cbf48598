import asyncio
from collections.abc import Awaitable, Callable

import pytest

import poise
from poise.studio.control.modes import Known, Modes
from poise.studio.server.mode_routes import news_text
from poise.studio.session.postures import with_freedom
from poise.studio.session.session import Session
from poise.studio.wire.connection import MESSAGES_IN_FLIGHT, Connection
from poise.studio.wire.frames import packed, unpacked

PAUSE = 0.1
"""Time within which everything that is sent without an acknowledgement arrives [s]."""


class Page:
    """A page's end of a socket, which records what it receives."""

    def __init__(self) -> None:
        self.got: list[bytes | str] = []

    async def send_bytes(self, data: bytes) -> None:
        self.got.append(data)

    async def send_text(self, data: str) -> None:
        self.got.append(data)


@pytest.fixture
def session() -> Session:
    return Session(poise.load("arm"))


def sent_while(
    session: Session, act: Callable[[Page, Connection], Awaitable[None]], modes: Modes | None = None
) -> Page:
    """The page with everything it received while `act` ran."""
    page = Page()

    async def go() -> None:
        connection = Connection(page, session)  # type: ignore[arg-type]
        known = Known()
        compose = (lambda: packed(session.state)) if modes is None else (lambda: news_text(modes, known))
        sender = asyncio.create_task(connection.send(compose, 0.01))
        await act(page, connection)
        sender.cancel()
        connection.close()

    asyncio.run(go())
    return page


def move(session: Session, value: float) -> None:
    session.update(lambda state: with_freedom(state, 0, value))


async def moved(session: Session, times: int) -> None:
    for value in range(times):
        move(session, float(value))
        await asyncio.sleep(0.01)


def test_a_page_that_says_nothing_is_sent_no_more_than_it_can_take_in(session: Session) -> None:
    async def act(page: Page, connection: Connection) -> None:
        await moved(session, 30)
        await asyncio.sleep(PAUSE)
        assert len(page.got) == MESSAGES_IN_FLIGHT
        connection.acknowledge()
        await asyncio.sleep(PAUSE)

    page = sent_while(session, act)
    assert len(page.got) == MESSAGES_IN_FLIGHT + 1
    # What came between is left out: the last frame is the newest.
    assert unpacked(page.got[-1]).step == session.state.step  # type: ignore[arg-type]


def test_a_page_that_keeps_up_gets_them_all(session: Session) -> None:
    async def act(page: Page, connection: Connection) -> None:
        for value in range(20):
            count = len(page.got)
            move(session, float(value))
            while len(page.got) == count:
                await asyncio.sleep(0.001)
            connection.acknowledge()
            assert unpacked(page.got[-1]).step == session.state.step  # type: ignore[arg-type]

    sent_while(session, act)


def test_what_was_never_sent_cannot_be_seen(session: Session) -> None:
    async def act(page: Page, connection: Connection) -> None:
        for _ in range(50):
            connection.acknowledge()
        await moved(session, 30)
        await asyncio.sleep(PAUSE)

    assert len(sent_while(session, act).got) == MESSAGES_IN_FLIGHT


def test_silence_needs_no_answer(session: Session) -> None:
    modes = Modes(session)

    async def act(page: Page, connection: Connection) -> None:
        # In the plain mode nothing is plotted: changes of the posture are no news.
        await asyncio.sleep(PAUSE)
        told = len(page.got)
        await moved(session, 10)
        await asyncio.sleep(PAUSE)
        assert len(page.got) == told
        modes.enter("circles")
        await asyncio.sleep(PAUSE)
        assert len(page.got) > told

    sent_while(session, act, modes)
