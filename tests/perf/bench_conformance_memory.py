"""What the recorded conversations, replayed again and again, leave in one API server's memory.

Run by hand: ``.venv/bin/python tests/perf/bench_conformance_memory.py --minutes 15``. Each round replays all scenarios of
a set of recordings (``../shared/golden``), one after another: kinds are defined and deleted, documents of discovery and
OpenAPI asked for, watches opened, objects of every kind made and removed, over TLS and on SQLite. One line a round tells
the memory after it. Exits with 1 when more is resident at any time than `MOST_MIB`, or would be after an hour by how it
grew in the second half.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from hyperkube_testing.peers.ports import free_port
from servers_under_load import BIN, TOKEN, Served, running
from soak import count

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
MOST_MIB = 200.0
HOUR = 3600.0
_LOOK_SECONDS = 0.5


def api_server(folder: Path, port: int) -> list[str]:
    """Return the command line of the API server that the recordings are of, with their users and that of `Served`."""
    tokens = folder / "tokens.csv"
    tokens.write_text(f"{(GOLDEN / 'users.csv').read_text()}\n{TOKEN},measurer,measurer,system:masters\n")
    return [
        str(BIN / "hyperkube"), "apiserver", "--storage-backend=sqlite", f"--data-dir={folder / 'data'}",
        f"--token-auth-file={tokens}", "--authorization-mode=RBAC", f"--secure-port={port}",
        "--bind-address=127.0.0.1", "--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    ]  # fmt: skip


def after_an_hour(samples: Sequence[tuple[float, float]]) -> float:
    """Return what would be resident after an hour, in MiB, if it grew on as in the second half: a line of least squares.

    Args:
        samples: seconds since the start and MiB resident, one for each round, in order.
    """
    half = samples[len(samples) // 2 :]
    last = half[-1][1]
    middle, level = (sum(values) / len(half) for values in zip(*half, strict=True))
    spread = sum((at - middle) ** 2 for at, _ in half)
    if not spread:
        return last
    slope = sum((at - middle) * (size - level) for at, size in half) / spread
    return max(last, level + slope * (HOUR - middle))


class Peak(threading.Thread):
    """Looks at the resident memory of a server now and then, and remembers the most."""

    def __init__(self, server: Served) -> None:
        super().__init__(daemon=True, name="peak")
        self.most = 0.0
        self.ended = threading.Event()
        self._server = server

    def run(self) -> None:
        """Look until `ended`."""
        while not self.ended.wait(_LOOK_SECONDS):
            self.most = max(self.most, self._server.memory()[0])


def replay(port: int, recorded: str) -> str:
    """Replay a set of recordings once; return how many steps were equal, in the replayer's words."""
    command = [sys.executable, str(GOLDEN / "replay.py"), "replay", "--server", f"https://127.0.0.1:{port}"]
    command += [str(GOLDEN / recorded), "--poll-limit", "2", "--min", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"\d+ passed, \d+ failed", done.stdout)
    return found[0] if found else done.stdout[-100:]


def measure(minutes: float, recorded: str) -> bool:
    """Replay for so long, two rounds at least; tell whether memory stays within `MOST_MIB`, and would for an hour."""
    samples: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as name:
        port = free_port()
        with running(api_server(Path(name), port), port, "/readyz") as server:
            peak = Peak(server)
            peak.start()
            begun = time.monotonic()
            while time.monotonic() - begun < minutes * 60 or len(samples) < 2:
                said = replay(port, recorded)
                resident, proportional = server.memory()
                samples.append((time.monotonic() - begun, resident))
                sizes = f"RSS {resident:6.1f} PSS {proportional:6.1f} most {peak.most:6.1f} MiB"
                entries = (
                    f"{count(server.process.pid, 'task'):3d} threads {count(server.process.pid, 'fd'):4d} descriptors"
                )
                spent = f"{samples[-1][0]:6.0f} s, {server.cpu():6.1f} s CPU"
                print(f"round {len(samples):3d}: {spent}; {sizes}; {entries}; {said}", flush=True)
            peak.ended.set()
            peak.join()
    hour = after_an_hour(samples)
    print(f"at most {peak.most:.0f} MiB resident, {hour:.0f} after an hour (at most {MOST_MIB:.0f})")
    return max(peak.most, hour) <= MOST_MIB


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--recorded", choices=("dev", "dev2"), default="dev", help="the set of recordings")
    options = parser.parse_args()
    if not GOLDEN.is_dir():
        sys.exit(f"the recordings are not here: {GOLDEN}")
    sys.exit(not measure(options.minutes, options.recorded))
