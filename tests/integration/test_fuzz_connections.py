"""Beside one hostile connection of any kind the others are answered, and nothing it sends makes the server fail.

Some dozens in every run; ``./dev fuzz`` sends one for each thirty of its requests.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "security"))
sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("hypothesis", reason="'hypothesis' is not installed")

from attacked_world import World
from fuzz_connections import hostile_bytes
from fuzz_progress import Progress
from hostile_client import HUNG, LONGEST_WAIT, Hostile
from hypothesis import HealthCheck, Phase, given, settings

FEW = 40
CASES = max(FEW, int(os.environ.get("HYPERKUBE_FUZZ_CASES", "300")) // 30)
FAILED = re.compile(rb"Internal error occurred: [A-Z][a-zA-Z]*(?:Error|Exception)\b")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300 + 30 * CASES)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("fuzzed-connections"))
    yield Hostile(world)
    world.close()


def exchange(hostile, data):
    """Send bytes, and read whatever comes for a moment."""
    with hostile.connect() as connection, suppress(OSError):
        connection.settimeout(0.5)
        with suppress(OSError):
            connection.sendall(data)
        connection.settimeout(0.2)
        received = b""
        while len(received) < 1_000_000 and (piece := connection.recv(65536)):
            received += piece
        connection.shutdown(socket.SHUT_RDWR)
        return received
    return received


def test_one_connection_never_makes_the_others_wait(hostile, caplog):
    found, progress = {}, Progress("connections", CASES)

    def send(data):
        with hostile.patiently(asleep=HUNG if CASES == FEW else LONGEST_WAIT):
            received = exchange(hostile, data)
        for fault in FAILED.findall(received):
            found.setdefault(fault, data[:2000])
        for record in caplog.records:
            if record.exc_info:
                found.setdefault(record.getMessage()[:200], (data[:2000], str(record.exc_info[1])))
        caplog.clear()
        progress.step(len(found))

    settings(
        max_examples=CASES,
        derandomize=CASES == FEW,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(given(data=hostile_bytes)(send))()

    assert not found
