"""Random sequences of events around a robot, and a judge of every command that arrives at its servos.

The judge knows servos by their definition alone, and sees what the device receives and measures. A command may differ
from what it saw last by speed × time since, by the robot's clock, where no time counts for more than a tenth of a
second; by the starting speed unless the robot follows. Only a servo that was measured outside its limits is commanded
outside of them, and never farther out. Nothing arrives once a robot is stopped.

Where nobody can know whether a command arrived (the line broke while it was sent, or the system held it back for a
device that did not read), the judge allows for as many frames as may be missing.
"""

import dataclasses
import math
import multiprocessing
import random
import sys
import threading
import time
import types
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from poise.errors import RobotError
from poise.figure.model.builder import Builder, prismatic, revolute
from poise.formats.osc import decode
from poise.robots import DeviceLostError, Robot, Servo, dynamixel, firmata, osc_out, port, serial_line
from poise.robots import robot as robot_module
from tests.unit.robots import emulated

LONGEST, SLOW = 0.1, 0.6
SPEEDS = {"turn": 6.0, "lean": math.inf, "slide": math.inf}
ASSUMED = {"lean": 1.0, "slide": 0.1}
"""Speeds that are assumed where neither the servo nor the figure has one [rad/s or m/s]."""
LIMITS = {"turn": (-1.5, 1.5), "lean": (-1.0, 2.0), "slide": (-0.4, 0.4)}
KINDS = ("memory", "firmata", "dynamixel", "serial", "osc")
PATH = "/dev/imagined"
HELD_FRAMES = 3
"""Most frames that a system may hold back for a device that does not read."""


def _figure():
    b = Builder("three")
    b.body("foot")
    b.body("stem", parent="foot", joint=revolute("turn", "y", LIMITS["turn"], speed=6.0))
    b.body("arm", parent="stem", joint=revolute("lean", "x", LIMITS["lean"]), at=(0, 0.2, 0))
    b.body("head", parent="arm", joint=prismatic("slide", "x", LIMITS["slide"]), at=(0, 0.2, 0))
    return b.build()


FIGURE = _figure()
NEUTRAL = FIGURE.neutral()
FRAMES = (
    [math.nan, 0.0, 0.0],
    [math.inf, 0.0, 0.0],
    [1e300, -1e300, 1e300],
    [1e49, 5.0, -3.0],
    [0.1],
    [0.0] * 9,
    "a posture",
    {"no such joint": 1.0},
    {"turn": 90.0},
    np.array([1.5, 2.0, 0.4]),
    np.array([-1.5, -1.0, -0.4]),
    np.zeros(3),
    *np.random.default_rng(0).uniform(-1.5, 1.5, (40, 3)),
)
STEPS = (0.0, 1e-4, 0.005, 0.02, 0.02, 0.02, 0.02, 0.05, 0.3, 2.0, 1e6, -5.0, -0.03)
"""Times from one cycle to the next by the robot's clock, which leaps and runs backwards now and then [s]."""


class JumpError(AssertionError):
    """A command that must not be."""


class Watch:
    """What the judge knows of one servo."""

    def __init__(self, servo, safe):
        self.scale = servo.sign * (servo.ticks[1] - servo.ticks[0]) / servo.travel
        self.middle, self.zero = 0.5 * (servo.ticks[0] + servo.ticks[1]), servo.zero
        limits = LIMITS[servo.joint]
        ends = [self.tick_of(v) for v in (max(servo.lower, limits[0]), min(servo.upper, limits[1]))]
        self.low = max(servo.ticks[0], min(ends) - 1e-6)
        self.high = min(servo.ticks[1], max(ends) + 1e-6)
        known = min(servo.speed, SPEEDS[servo.joint])
        self.speed = (known if known < math.inf else ASSUMED[servo.joint]) * abs(self.scale)
        self.slow = min(self.speed, SLOW * abs(self.scale))
        self.safe = min(max(self.tick_of(safe), self.low), self.high)
        self.last, self.time, self.credit, self.missing = None, -math.inf, 0.0, 0
        self.farthest = 0.0
        """How far outside its limits the servo was measured [ticks]."""

    def tick_of(self, value):
        return self.middle + self.scale * (value - self.zero)

    def excess(self, tick):
        return max(self.low - tick, tick - self.high, 0.0)

    def measured(self, tick):
        self.last, self.time, self.credit, self.missing = tick, -math.inf, 0.0, 0
        self.farthest = self.excess(tick)

    def command(self, tick, now, slowly):
        """Judge a command; the share of the allowed change that it uses."""
        if self.last is None:
            if abs(tick - self.safe) > 1.0 + self.missing * self.speed * LONGEST:
                raise JumpError(f"starts at {tick} and not in the safe posture, {self.safe:.1f}")
            self.last = tick
            if self.excess(tick):
                raise JumpError(f"starts at {tick}, outside {self.low:.1f} … {self.high:.1f}")
        if self.excess(tick) > (self.excess(self.last) if not self.missing else self.farthest):
            raise JumpError(f"{tick} after {self.last} leaves {self.low:.1f} … {self.high:.1f}")
        change = abs(tick - self.last)
        frame = min(max(now - self.time, 0.0), LONGEST)
        speed = self.slow if slowly else self.speed
        self.credit += speed * frame
        if self.missing:
            allowed = self.speed * LONGEST * (1 + self.missing) + 1.0
        else:
            allowed = speed * frame + 1e-6
            if change == 1 and self.credit >= 1.0 - 1e-6:
                allowed = max(allowed, 1.0)
        if change > allowed:
            raise JumpError(f"from {self.last} to {tick} in {now - self.time:g} s, where {allowed:.3f} are allowed")
        if self.missing:
            # Seen late, after a time that the robot has counted already.
            self.credit = 1.0
        elif change:
            self.credit = 0.0
        self.last, self.time, self.missing = tick, now, 0
        return change / allowed if allowed > 1.0 else 0.0


class World:
    """Clock, cable, servos and judge."""

    def __init__(self, rng, servos):
        self.rng, self.servos = rng, servos
        self.watches = [Watch(servo, value) for servo, value in zip(servos, (0.0, 0.0, 0.0), strict=True)]
        self.number = {servo.channel: k for k, servo in enumerate(servos)}
        self.true_time = self.offset = 0.0
        self.robot = None
        self.stopped = False
        self.out = self.unread = self.late = False
        self.fuse = -1
        """Calls until the cable comes out; below 0 it stays in."""
        self.counts = Counter()
        self.largest = 0.0
        self.violations = []

    # The time, for drivers and the robot

    def monotonic(self):
        return self.true_time

    def sleep(self, seconds):
        self.true_time += seconds

    def clock(self):
        return self.true_time + self.offset

    # The cable

    def touch(self):
        """Somebody uses the cable; whether it comes out now."""
        if self.fuse == 0:
            self.out, self.fuse = True, -1
        elif self.fuse > 0:
            self.fuse -= 1
        return self.out

    # The servos

    def command(self, number, tick):
        watch = self.watches[number]
        if self.late:
            watch.missing = HELD_FRAMES
        try:
            if self.stopped:
                raise JumpError(f"{tick} arrives after the robot was stopped")
            self.largest = max(self.largest, watch.command(tick, self.clock(), self.robot.state != "following"))
        except JumpError as problem:
            # The robot would take an exception for a failure of its driver.
            self.violations.append(f"{self.servos[number].joint}: {problem}")
        self.counts["commands"] += 1
        self.counts["outside"] += watch.excess(tick) > 0.0

    def measured(self, number, tick):
        self.counts["measured"] += 1
        self.watches[number].measured(tick)

    def unsure(self, frames):
        for watch in self.watches:
            watch.missing = max(watch.missing, frames)


class MemoryDriver:
    """A device without a protocol, which may fail in every call."""

    name = "a device"

    def __init__(self, world):
        self.world = world
        self.arming_gap = world.rng.choice((0.0, 0.05))
        self.measures = world.rng.random() < 0.5
        self.places = [watch.middle for watch in world.watches]

    def _use(self):
        if self.world.touch():
            raise DeviceLostError("gone.")

    def open(self, servos):
        self._use()

    def measure(self, number):
        self._use()
        if not self.measures or self.world.rng.random() < 0.2:
            return None
        tick = int(self.places[number])
        self.world.measured(number, tick)
        return tick

    def arm(self, number, tick):
        self._use()
        self._take(number, tick)

    def send(self, ticks, values):
        if self.world.unread:
            return False
        broke = self.world.touch()
        if broke and self.world.rng.random() < 0.5:
            raise DeviceLostError("gone before it was sent.")
        for number, tick in enumerate(ticks):
            self._take(number, tick)
        if broke:
            self.world.unsure(1)
            raise DeviceLostError("gone after it was sent.")
        return True

    def _take(self, number, tick):
        self.world.command(number, tick)
        self.places[number] = tick

    def poll(self, now):
        self._use()
        return ()

    def close(self):
        pass

    def power_cycle(self):
        pass

    def move_by_hand(self):
        low, high = self.world.watches[0].low, self.world.watches[0].high
        self.places = [self.world.rng.uniform(2 * low - high, 2 * high - low) for _ in self.places]


class Line:
    """What pyserial would give for a serial line, with a device at its end."""

    def __init__(self, world, device):
        self.world, self.device = world, device
        self.held, self.answers = b"", b""
        self.cut = False
        """Whether half a message has gone out."""
        if world.touch():
            raise OSError("no such device")

    @property
    def out_waiting(self):
        return len(self.held)

    def read(self, count):
        if self.world.touch():
            self._break()
        answers, self.answers = self.answers, b""
        return answers

    def write(self, data):
        broke = self.world.touch()
        if broke and self.world.rng.random() < 0.5:
            self._break()
        if broke or self.world.unread:
            self.held += data
            taken = len(data)
        else:
            # A system may take less than it is given.
            taken = len(data) if self.world.rng.random() < 0.95 else self.world.rng.randrange(len(data) + 1)
            self.held += data[:taken]
        late, self.cut = self.cut, taken < len(data)
        if not self.world.unread:
            self.deliver(late or self.cut)
        if broke:
            self._break()
        return taken

    def deliver(self, late=True):
        held, self.held = self.held, b""
        before = self.world.counts["commands"]
        self.world.late = late
        for answer in self.device.hear(held):
            self.answers += answer
        self.world.late = False
        frames = (self.world.counts["commands"] - before) / len(self.world.servos)
        if frames > HELD_FRAMES:
            self.world.violations.append(f"{frames:g} frames arrive at once")
        if late:
            self.world.unsure(HELD_FRAMES)

    def _break(self):
        self.world.unsure(HELD_FRAMES)
        raise OSError("the cable is out")

    def close(self):
        if self.held or self.cut:
            self.world.unsure(HELD_FRAMES)
        self.held = b""


class BoardMixin:
    """An emulated board whose commands go to the judge."""

    def __init__(self, world, *arguments):
        super().__init__(*arguments)
        self.world, self.clock = world, world.clock

    def note(self, channel, tick):
        self.world.command(self.world.number[channel], tick)

    def power_cycle(self):
        self._message = []

    def move_by_hand(self):
        pass


class JudgedArduino(BoardMixin, emulated.Arduino):
    def _move(self, pin, value):
        if self.modes.get(pin) == 4:
            super()._move(pin, value)
        else:
            # A board that was reset: the sketch ignores the move, and the judge sees it all the same.
            self.note(pin, value)
            self._message = []

    def power_cycle(self):
        self._message, self.modes = [], {}


class JudgedBus(BoardMixin, emulated.DynamixelBus):
    def _obey(self, who, instruction, p):
        if instruction == 0x02 and p[0] + 256 * p[1] == 132:
            tick = int.from_bytes(self.tables[who][132:136], "little", signed=True)
            self.world.measured(self.world.number[who], tick)
        return super()._obey(who, instruction, p)

    def note(self, channel, tick):
        super().note(channel, tick)
        if self.tables[channel][64]:
            self.tables[channel][132:136] = (tick & 0xFFFFFFFF).to_bytes(4, "little")

    def power_cycle(self):
        self._data = bytearray()
        for table in self.tables.values():
            table[64] = 0
            table[112:116] = bytes(4)

    def move_by_hand(self):
        for table in self.tables.values():
            table[132:136] = self.world.rng.randrange(-2000, 6000).to_bytes(4, "little", signed=True)


class JudgedText(BoardMixin, emulated.TextBoard):
    def power_cycle(self):
        self._line = b""


class Socket:
    """What a UDP socket is to the OSC driver."""

    def __init__(self, world):
        self.world = world

    def setblocking(self, flag):
        pass

    def sendto(self, packet, address):
        if self.world.unread:
            raise BlockingIOError
        broke = self.world.touch()
        if broke and self.world.rng.random() < 0.5:
            raise OSError("the network is down")
        for number, message in enumerate(decode(packet)):
            watch = self.world.watches[number]
            self.world.command(number, round(watch.tick_of(message.arguments[0])))
        if broke:
            self.world.unsure(1)
            raise OSError("the network is down")

    def close(self):
        pass


def _devices(world, kind):
    """A driver, and what can happen at the other end of it."""
    if kind == "memory":
        driver = MemoryDriver(world)
        return driver, driver
    channels = [servo.channel for servo in world.servos]
    if kind == "firmata":
        return firmata.FirmataDriver(PATH), JudgedArduino(world)
    if kind == "dynamixel":
        return dynamixel.DynamixelDriver(PATH), JudgedBus(world, channels)
    if kind == "serial":
        return serial_line.SerialLineDriver(PATH), JudgedText(world)
    return osc_out.OscDriver("127.0.0.1", 9000, "three"), Nobody()


class Nobody:
    """Nothing is known of who hears OSC."""

    def power_cycle(self):
        pass

    move_by_hand = power_cycle


def random_servos(rng, kind):
    """Servos with any map."""
    return tuple(_random_servo(rng, kind, joint, k) for k, joint in enumerate(SPEEDS))


def _random_servo(rng, kind, joint, k):
    if kind == "firmata":
        low = rng.randrange(544, 1200)
        ticks = (low, low + rng.randrange(300, 2000))
    elif kind == "dynamixel":
        ticks = (0, 4095)
    elif kind == "osc":
        ticks = osc_out.OSC_TICKS
    else:
        low = rng.randrange(-3000, 3000)
        ticks = (low, low + rng.randrange(100, 5000))
    size = 0.3 if joint == "slide" else 1.0
    return Servo(
        joint,
        20 - 9 * k if kind == "firmata" else k + 1,
        sign=rng.choice((-1, 1)),
        zero=size * rng.uniform(-0.3, 0.3),
        ticks=ticks,
        travel=2e-6 * ticks[1] if kind == "osc" else size * rng.uniform(1.5, 7.0),
        lower=-size * rng.uniform(0.1, 2.0) if rng.random() < 0.7 else -math.inf,
        upper=size * rng.uniform(0.1, 2.0) if rng.random() < 0.7 else math.inf,
        speed=size * 10.0 ** rng.uniform(-2.0, 1.5) if rng.random() < 0.5 else math.inf,
    )


class Story:
    """One sequence of events."""

    def __init__(self, seed, kind):
        self.rng = rng = random.Random(seed)
        self.world = World(rng, random_servos(rng, kind))
        self.driver, self.board = _devices(self.world, kind)
        self.line = None
        self.stop_when_told = False
        self._new_robot()
        self.events = []

    def _new_robot(self):
        self.robot = self.world.robot = Robot(
            FIGURE,
            self.driver,
            self.world.servos,
            slow=SLOW,
            watchdog=0.2,
            retry=0.05,
            on_event=self._told,
            clock=self.world.clock,
        )

    def _told(self, sentence):
        if self.stop_when_told:
            self.stop_when_told = False
            self.stop()

    # What the modules see of the machine

    def serial(self, *arguments, **options):
        self.line = Line(self.world, self.board)
        return self.line

    # Events

    def cycle(self, step=0.02):
        if abs(step) > 1.0:
            self.world.offset += step
        else:
            self.world.true_time += max(step, 0.0)
            self.world.offset += min(step, 0.0)
        self.robot.tick()
        self.world.counts[self.robot.state] += 1

    def write(self):
        self.robot.write(self.rng.choice(FRAMES))

    def follow(self):
        frame = self.rng.choice(FRAMES[9:])
        for _ in range(self.rng.randrange(1, 15)):
            self.robot.write(frame)
            self.cycle()

    def stay_then_leave(self):
        """Let the robot catch up where it is, then ask for another posture."""
        self.robot.write(self.robot.commands)
        for _ in range(self.rng.randrange(1, 4)):
            self.cycle()
        self.follow()

    def odd_clock(self):
        self.cycle(self.rng.choice(STEPS))

    def silence(self):
        for _ in range(self.rng.randrange(1, 6)):
            self.cycle(0.09)

    def break_cable(self):
        self.world.fuse = self.rng.randrange(12)

    def mend_cable(self):
        self.world.out, self.world.fuse = False, -1

    def reconnect(self):
        self.mend_cable()
        for _ in range(5):
            self.cycle(0.06)

    def stop_reading(self):
        self.world.unread = True

    def read_again(self):
        self.world.unread = False
        if self.line is not None and self.line.held:
            self.world.counts["late deliveries"] += 1
            stopped, self.world.stopped = self.world.stopped, False
            self.line.deliver()
            self.world.stopped = stopped

    def stop(self):
        self.robot.stop()
        self.world.stopped = True

    def start(self, at=None):
        self.world.stopped = False
        try:
            self.robot.start(at)
        except RobotError:
            self.world.stopped = True
            self.world.counts["starts that failed"] += 1

    def restart(self):
        self.stop()
        self.start()

    def replace(self):
        """Another robot goes on with the servos, as after a dry run."""
        self.stop()
        at = self.robot.commands
        self._new_robot()
        self.start(at)

    def stop_in_an_event(self):
        self.stop_when_told = True

    def power_cycle(self):
        self.board.power_cycle()

    def move_by_hand(self):
        self.board.move_by_hand()

    def play(self, length):
        """Play events until one of them ends in a violation."""
        with Machine(self):
            for event in self.rng.choices(EVENTS, WEIGHTS, k=length):
                self.events.append(event.__name__)
                event(self)
                if self.world.violations:
                    return


EVENTS, WEIGHTS = zip(
    *[
        (Story.cycle, 4),
        (Story.write, 4),
        (Story.follow, 3),
        (Story.stay_then_leave, 4),
        (Story.odd_clock, 4),
        (Story.silence, 2),
        (Story.break_cable, 2),
        (Story.mend_cable, 1),
        (Story.reconnect, 2),
        (Story.stop_reading, 1),
        (Story.read_again, 2),
        (Story.stop, 0.5),
        (Story.start, 1),
        (Story.restart, 0.7),
        (Story.replace, 0.7),
        (Story.stop_in_an_event, 0.3),
        (Story.power_cycle, 0.7),
        (Story.move_by_hand, 1),
    ],
    strict=True,
)


class NoThread:
    """The robot's thread, which never runs: cycles are events here."""

    def __init__(self, **options):
        pass

    def start(self):
        pass

    def join(self):
        pass


@dataclasses.dataclass
class Machine:
    """What drivers see of the computer while a story is told."""

    story: Story

    def __enter__(self):
        world, story = self.story.world, self.story
        clock = types.SimpleNamespace(monotonic=world.monotonic, sleep=world.sleep)
        sockets = types.SimpleNamespace(
            getaddrinfo=lambda *_, **__: [(0, 0, 0, "", ("127.0.0.1", 9000))],
            socket=lambda *_: Socket(world),
            SOCK_DGRAM=0,
        )
        threads = types.SimpleNamespace(Thread=NoThread, Event=threading.Event, current_thread=threading.current_thread)
        changes = [(module, "time", clock) for module in (firmata, dynamixel, port, emulated)]
        changes += [(osc_out, "socket", sockets), (robot_module, "threading", threads), (port, "_POSIX", False)]
        changes += [(port, "_pyserial", lambda: types.SimpleNamespace(Serial=story.serial))]
        changes += [(port, "_open_error", lambda path, problem: f"{path}: {problem}.")]
        self._before = [(module, name, getattr(module, name)) for module, name, _ in changes]
        for module, name, value in changes:
            setattr(module, name, value)

    def __exit__(self, *_):
        for module, name, value in self._before:
            setattr(module, name, value)


def play(kind, seeds, length=12):
    """Play a sequence for every seed; counts, and the largest share of an allowed change that a command used."""
    counts, largest = Counter(), 0.0
    for seed in seeds:
        story = Story(seed, kind)
        story.play(length)
        if story.world.violations:
            raise JumpError(f"{kind}, seed {seed}, after {', '.join(story.events)}: {story.world.violations[0]}")
        counts.update(story.world.counts)
        largest = max(largest, story.world.largest)
    return counts, largest


def play_many(kind, sequences, processes=None):
    """Play sequences on all cores."""
    parts = [range(first, min(first + 1000, sequences)) for first in range(0, sequences, 1000)]
    counts, largest = Counter(), 0.0
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for some, share in pool.map(play, [kind] * len(parts), parts):
            counts.update(some)
            largest = max(largest, share)
    return counts, largest


def main():
    """Print what a number of sequences came to: python -m tests.property.servo_events 1000000 memory."""
    sequences = int(sys.argv[1])
    for kind in sys.argv[2:] or KINDS:
        start = time.perf_counter()
        counts, largest = play_many(kind, sequences)
        seconds = time.perf_counter() - start
        print(
            f"{kind}: {sequences} sequences of 12 events in {seconds:.0f} s, {counts['commands']} commands to servos;"
        )
        print(
            f"  no jump; the largest change used {100.0 * largest:.4f} % of what is allowed; {dict(counts)}", flush=True
        )


if __name__ == "__main__":
    main()
