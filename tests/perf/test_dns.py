"""Cluster DNS: a Service is known by its name within 100 ms, and answering is no slower than a few bare echoes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SEEN_MILLISECONDS = 100
SHARE = 0.25
"""Of the answers of a bare echo in the same run; on a quiet machine it is more than half."""


def test_a_service_is_soon_known_and_answers_come_beside_an_echo():
    script = Path(__file__).with_name("bench_dns.py")

    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["seen ms"]["median"] < SEEN_MILLISECONDS
    assert told["dns"]["answers/s"] > SHARE * told["echo"]["answers/s"]
