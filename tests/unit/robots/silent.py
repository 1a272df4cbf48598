"""A driver without a device."""


class Silent:
    """A driver that accepts every command and keeps it."""

    name = "a silent device"
    arming_gap = 0.0

    def __init__(self):
        self.sent = []

    def open(self, servos):
        pass

    def measure(self, number):
        return None

    def arm(self, number, tick):
        pass

    def send(self, ticks, values):
        self.sent.append(ticks)
        return True

    def poll(self, now):
        return ()

    def close(self):
        pass
