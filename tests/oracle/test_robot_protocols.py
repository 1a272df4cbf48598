"""Bytes of the robots' protocols against libraries we did not write."""

import numpy as np
import pytest

from poise.formats.osc import bundle, decode, encode
from poise.robots import dynamixel_packets as packets
from poise.robots.firmata import servo_move, servo_setup


class Wire:
    """Looks like a serial port and keeps what is written."""

    def __init__(self):
        self.written = b""

    def write(self, data):
        self.written += bytes(data)
        return len(data)


def test_dynamixel_packets_are_the_makers():
    sdk = pytest.importorskip("dynamixel_sdk", reason="dynamixel-sdk is not installed")
    handler = sdk.PacketHandler(2.0)

    class Port:
        is_using = False
        ser = Wire()

        def clearPort(self):  # noqa: N802
            pass

        def writePort(self, packet):  # noqa: N802
            return self.ser.write(packet)

    rng = np.random.default_rng(0)
    for _ in range(200):
        Port.ser, port = Wire(), Port()
        values = [(who, int(rng.integers(0, 2**31))) for who in range(1, 7)]
        rows = [byte for who, value in values for byte in (who, *value.to_bytes(4, "little"))]
        assert handler.syncWriteTxOnly(port, 116, 4, list(rows), len(rows)) == sdk.COMM_SUCCESS
        assert packets.sync_write(116, 4, values) == Port.ser.written
        Port.ser, port = Wire(), Port()
        handler.write4ByteTxOnly(port, 3, 116, values[0][1])
        assert packets.write(3, 116, values[0][1], 4) == Port.ser.written


def test_headers_inside_a_dynamixel_packet_are_stuffed_as_the_maker_says():
    sdk = pytest.importorskip("dynamixel_sdk", reason="dynamixel-sdk is not installed")
    handler = sdk.PacketHandler(2.0)
    for value in (-131073, 0xFDFFFF, 0x00FDFFFF, 12345):
        ours = packets.sync_write(116, 4, [(1, value), (255 - 3, value)])
        parameters = [116, 0, 4, 0]
        for who in (1, 252):
            parameters += [who, *(value & 0xFFFFFFFF).to_bytes(4, "little")]
        length = len(parameters) + 3
        plain = [0xFF, 0xFF, 0xFD, 0, 0xFE, length, 0, 0x83, *parameters, 0, 0]
        # The maker's txPacket drops what its addStuffing returns; what it returns is right.
        stuffed = handler.addStuffing(plain)
        crc = handler.updateCRC(0, stuffed, len(stuffed) - 2)
        assert ours == bytes(stuffed[:-2]) + crc.to_bytes(2, "little")


def test_firmata_messages_are_those_of_pyfirmata2():
    pyfirmata2 = pytest.importorskip("pyfirmata2", reason="pyFirmata2 is not installed")

    class Board(pyfirmata2.Board):
        def __init__(self):
            pass

        def __del__(self):
            pass

    board = Board()
    board.sp = Wire()
    board.digital = [pyfirmata2.Pin(board, k) for k in range(16)]
    for pin in board.digital:
        pin._mode = pyfirmata2.OUTPUT
    for pin in (2, 9, 15):
        board.sp.written = b""
        board.servo_config(pin, 544, 2400, 1500)
        setup, move = servo_setup(pin, (544, 2400)), servo_move(pin, 1500)
        config, mode = setup[:-3], setup[-3:]
        assert config in board.sp.written
        assert move in board.sp.written
        assert mode == bytes([pyfirmata2.SET_PIN_MODE, pin, pyfirmata2.SERVO])


def test_osc_packets_are_those_of_python_osc():
    pythonosc = pytest.importorskip("pythonosc", reason="python-osc is not installed")
    from pythonosc.osc_bundle import OscBundle
    from pythonosc.osc_message import OscMessage
    from pythonosc.osc_message_builder import OscMessageBuilder

    assert pythonosc
    rng = np.random.default_rng(1)
    texts = ["", "a", "abc", "abcd", "Größe", "/face"]
    for _ in range(200):
        arguments = [float(np.float32(rng.normal())), int(rng.integers(-9, 9)), str(rng.choice(texts)), b"\1\2\3", True]
        builder = OscMessageBuilder("/poise/test")
        for argument in arguments:
            builder.add_arg(argument)
        ours = encode("/poise/test", arguments)
        assert ours == builder.build().dgram
        assert OscMessage(ours).params == arguments
        assert decode(builder.build().dgram)[0].arguments == tuple(arguments)
    both = OscBundle(bundle([encode("/a", [1.0]), encode("/b", ["x"])]))
    assert [message.address for message in both] == ["/a", "/b"]
