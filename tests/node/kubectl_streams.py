"""kubectl's commands that flow, on the master of a laboratory's cluster: lines as they come, and terminals."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import threading
import time

from hyperkube.testing.waiting import eventually


class Flowing:
    """A running kubectl and the lines that it has written."""

    def __init__(self, cluster, *words):
        self.process = subprocess.Popen(
            cluster.master.command(*cluster.kubectl_line(*words)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
        )  # fmt: skip
        self.lines = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def has(self, part, seconds=30):
        """Wait for a line with this part, and return it."""
        return eventually(
            lambda: next((line for line in self.lines if part in line), None), seconds, why=f"{part!r} in {self.lines}"
        )

    def close(self):
        from hyperkube_testing.lab.program import child_of

        kubectl = child_of(self.process.pid)
        if kubectl:
            with contextlib.suppress(ProcessLookupError):
                os.kill(kubectl, 9)
        self.process.wait(10)
        self.process.stdin.close()
        self._thread.join(10)
        self.process.stdout.close()


@contextlib.contextmanager
def flowing(cluster, *words):
    """Run a kubectl for the length of a block."""
    made = Flowing(cluster, *words)
    try:
        yield made
    finally:
        made.close()


def typed(cluster, *words, keys, seconds=30):
    """Run kubectl on a terminal, type keys when it first writes something, and return the screen and the exit code."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            cluster.master.command(*cluster.kubectl_line(*words)), stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(theirs)
    screen, deadline, is_typed = b"", time.monotonic() + seconds, False
    try:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # the last who had the other side open is gone
                    break
                screen += part
            if not is_typed and b"# " in screen:
                os.write(ours, keys.encode())
                is_typed = True
            if process.poll() is not None and not select.select([ours], [], [], 0)[0]:
                break
        return screen.decode(errors="replace"), process.wait(10)
    finally:
        os.close(ours)
