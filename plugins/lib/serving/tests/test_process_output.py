"""What a command writes until it ends."""

import os

from hyperkube_lib.serving.process_output import output_of

from hyperkube.hookspecs.runtime import ExecResult
from hyperkube.machinery.clock import SystemClock


class Command:
    """A command on pipes, whose other ends the test has."""

    def __init__(self, *, tty=False):
        self.stdin, self.is_killed = None, False
        self.stdout, self.out = os.pipe()
        self.stderr, self.err = (None, None) if tty else os.pipe()

    def resize(self, width, height):
        """There is no terminal."""

    def wait(self, timeout=None):
        return 3

    def kill(self):
        self.is_killed = True

    def end(self):
        for descriptor in (self.out, self.err):
            if descriptor is not None:
                os.close(descriptor)


def test_output_and_errors_are_apart():
    command = Command()
    os.write(command.out, b"out")
    os.write(command.err, b"err")
    command.end()

    assert output_of(command, SystemClock(), None, 100) == ExecResult(b"out", b"err", 3)


def test_a_terminal_has_no_errors():
    command = Command(tty=True)
    os.write(command.out, b"all")
    command.end()

    assert output_of(command, SystemClock(), 5, 100) == ExecResult(b"all", b"", 3)


def test_what_is_beyond_the_limit_is_dropped():
    command = Command()
    os.write(command.out, b"x" * 1000)
    command.end()

    assert output_of(command, SystemClock(), 5, 10) == ExecResult(b"x" * 10, b"", 3)


def test_a_command_that_takes_too_long_is_ended():
    command = Command()

    assert output_of(command, SystemClock(), 0.01, 100) is None
    assert command.is_killed
    command.end()
