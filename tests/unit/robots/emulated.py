"""Emulated devices on pseudo-terminals; they decode messages by the protocols' documents, not with poise's code."""

import contextlib
import os
import pty
import re
import select
import threading
import time
import tty

CRC_POLYNOMIAL = 0x8005


class Cable:
    """A device at the other end of a serial line that can be unplugged and plugged in again under the same name."""

    def __init__(self, path, device):
        self.path, self.device = path, device
        self._master = self._stop = None
        self.plug()

    def plug(self):
        self._master, slave = pty.openpty()
        tty.setraw(self._master)
        tty.setraw(slave)
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.path.symlink_to(os.ttyname(slave))
        os.close(slave)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(self._master, self._stop), daemon=True)
        self._thread.start()

    def unplug(self):
        self._stop.set()
        self._thread.join()
        os.close(self._master)
        self.path.unlink()

    def say(self, data):
        os.write(self._master, data)

    def _serve(self, master, stop):
        while not stop.is_set():
            try:
                ready, _, _ = select.select([master], [], [], 0.005)
                data = os.read(master, 4096) if ready and not self.device.deaf else b""
            except OSError:
                # Nobody has opened the other end yet, or somebody has closed it.
                time.sleep(0.005)
                continue
            for answer in self.device.hear(data):
                os.write(master, answer)


class Device:
    """A device that answers after `delay` seconds, or not at all."""

    def __init__(self):
        self.deaf = self.mute = False
        self.delay = 0.0
        self._waiting = []
        self.raw = b""
        self.clock = time.monotonic
        self.log = []
        """(time, channel, tick) of every command, in order."""

    def hear(self, data):
        self.raw += data
        now = time.monotonic()
        for byte in data:
            for answer in self.byte(byte):
                self._waiting.append((now + self.delay, answer))
        due = [answer for when, answer in self._waiting if when <= now]
        self._waiting = [(when, answer) for when, answer in self._waiting if when > now]
        return [] if self.mute else due

    def note(self, channel, tick):
        self.log.append((self.clock(), channel, tick))


class Arduino(Device):
    """An Arduino with StandardFirmata; records the modes and pulses of its pins, and every move in order."""

    def __init__(self):
        super().__init__()
        self.modes, self.pulses, self.moves = {}, {}, []
        self._message = []

    def byte(self, byte):
        if byte >= 0x80 and byte != 0xF7:
            self._message = []
        self._message.append(byte)
        m = self._message
        if m[0] == 0xF9:
            self._message = []
            return [bytes([0xF9, 2, 7])]
        if m[0] == 0xF4 and len(m) == 3:
            self.modes[m[1]] = m[2]
            self._message = []
        elif m[0] & 0xF0 == 0xE0 and len(m) == 3:
            self._move(m[0] & 0x0F, m[1] + 128 * m[2])
        elif m[0] == 0xF0 and m[-1] == 0xF7:
            if m[1] == 0x70:
                self.pulses[m[2]] = (m[3] + 128 * m[4], m[5] + 128 * m[6])
            elif m[1] == 0x6F:
                self._move(m[2], sum(part << 7 * k for k, part in enumerate(m[3:-1])))
            self._message = []
        return []

    def _move(self, pin, value):
        assert self.modes.get(pin) == 4, f"pin {pin} moves before it is a servo's"
        self.moves.append((pin, value))
        self.note(pin, value)
        self._message = []


class DynamixelBus(Device):
    """X-series servos with their control tables; broken packets are ignored, as on a bus."""

    def __init__(self, ids):
        super().__init__()
        self.tables = {i: bytearray(200) for i in ids}
        for table in self.tables.values():
            table[11] = 3
            table[132:136] = (2048).to_bytes(4, "little")
        self.goals, self.broken, self.ill = [], 0, set()
        self._data = bytearray()

    def byte(self, byte):
        self._data.append(byte)
        d = self._data
        while d and not b"\xff\xff\xfd\x00".startswith(bytes(d[:4])):
            del d[0]
        if len(d) < 7 or len(d) < 7 + d[5] + 256 * d[6]:
            return []
        whole, self._data = bytes(d), bytearray()
        if not sound(whole):
            self.broken += 1
            return []
        body = whole[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
        return self._obey(whole[4], body[0], body[1:])

    def _obey(self, who, instruction, p):
        if instruction == 0x83:
            address, count = p[0] + 256 * p[1], p[2] + 256 * p[3]
            rows = [p[k : k + 1 + count] for k in range(4, len(p), 1 + count)]
            for row in rows:
                self.tables[row[0]][address : address + count] = row[1:]
            self.goals.append({row[0]: int.from_bytes(row[1:], "little", signed=True) for row in rows})
            for channel, goal in self.goals[-1].items():
                self.note(channel, goal)
            return []
        if who not in self.tables:
            return []
        table = self.tables[who]
        if instruction == 0x01:
            return [status(who, 0x80 if who in self.ill else 0, bytes([6, 4, 44]))]
        address = p[0] + 256 * p[1]
        if instruction == 0x02:
            return [status(who, 0, bytes(table[address : address + p[2] + 256 * p[3]]))]
        if instruction == 0x03:
            table[address : address + len(p) - 2] = p[2:]
            if address == 116:
                self.goals.append({who: int.from_bytes(p[2:], "little", signed=True)})
                self.note(who, self.goals[-1][who])
            return [status(who, 0, b"")]
        return [status(who, 2, b"")]


class TextBoard(Device):
    """A board that reads text lines, and ignores lines that contain anything but servos."""

    def __init__(self):
        super().__init__()
        self.lines = []
        self._line = b""

    def byte(self, byte):
        if byte != 10:
            self._line += bytes([byte])
            return []
        line, self._line = self._line.decode(), b""
        if re.fullmatch(r"-?\d+:-?\d+( -?\d+:-?\d+)*", line):
            self.lines.append(line)
            for channel, tick in dict(item.split(":") for item in line.split()).items():
                self.note(int(channel), int(tick))
        return [b"ok\n"]


def polynomial_remainder(data):
    """The CRC by long division of the whole message, independent of the shift-register algorithm under test."""
    number = int.from_bytes(data, "big") << 16
    divisor = 1 << 16 | CRC_POLYNOMIAL
    while number.bit_length() > 16:
        number ^= divisor << number.bit_length() - 17
    return number


def sound(packet):
    return polynomial_remainder(packet[:-2]) == packet[-2] + 256 * packet[-1]


def status(who, error, parameters):
    body = (bytes([0x55, error]) + parameters).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    head = b"\xff\xff\xfd\x00" + bytes([who]) + (len(body) + 2).to_bytes(2, "little")
    return head + body + polynomial_remainder(head + body).to_bytes(2, "little")


def until(condition, seconds=10.0):
    """Wait until a condition holds; returns whether it did in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False
