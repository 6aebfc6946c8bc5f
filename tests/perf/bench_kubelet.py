"""What a kubelet costs with a hundred pods: until all of them run, at rest, and until they are gone.

Run by hand against a laboratory of the node recordings (their README shows how to start one with this kubelet):
``.venv/bin/python tests/perf/bench_kubelet.py DIR/lab.json``. The runtime is a fake one, so that the figures are the
kubelet's own and the API server's. The limits are what the real kubelet 1.36.2 needs there, 1.5 times its CPU where it
starts pods; a calibration is printed beside them, for machines of another speed, and how long the requests themselves
took, which the API server has to answer beside the kubelet. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

PODS = 100
REST_SECONDS = 30.0
MOST_SECONDS = 120.0
LIMITS: dict[str, float | None] = {
    "created after, s": None,
    "running after, s": 8.4,
    "CPU for that, s": 1.5 * 3.1,
    "CPU at rest, %": 4.3,
    "memory, MiB": 1.2 * 116,
    "deletions sent after, s": None,
    "gone after, s": 9.2,
    "CPU for the end, s": 3.4,
}


class Api:
    """The laboratory's API server."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._server, self._token = facts["server"], facts["token"]
        self._context = ssl.create_default_context()
        self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request; what exists already is as good as created."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._server + path, method=method, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=30) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
            return None


class Process:
    """The kubelet's process."""

    def __init__(self, pid: int) -> None:
        self._proc = Path(f"/proc/{pid}")

    @classmethod
    def of(cls, folder: Path) -> Process:
        """Find the kubelet that reads the configuration of a laboratory."""
        wanted = f"--config={folder / 'kubelet.json'}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and wanted in (entry / "cmdline").read_bytes().split(b"\0"):
                return cls(int(entry.name))
        raise SystemExit(f"no kubelet runs with {folder}/kubelet.json")

    def cpu(self) -> float:
        """Return the seconds of CPU it has used."""
        fields = (self._proc / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Return its resident memory in MiB."""
        lines = (self._proc / "status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def pod(index: int) -> dict[str, Any]:
    """Return one of the pods."""
    container = {"name": "c", "image": "golden.test/present/app:1"}
    spec = {"nodeName": "golden-node", "automountServiceAccountToken": False, "containers": [container]}
    return {"metadata": {"name": f"p{index}"}, "spec": {**spec, "terminationGracePeriodSeconds": 1}}


def wait(holds: Callable[[], bool], begun: float) -> float:
    """Wait until something holds; return the seconds since `begun`."""
    while not holds():
        if time.monotonic() - begun > MOST_SECONDS:
            raise SystemExit(f"not within {MOST_SECONDS:.0f} s")
        time.sleep(0.2)
    return time.monotonic() - begun


def calibration() -> float:
    """Return the seconds that this machine needs for a fixed piece of work."""
    begun = time.process_time()
    total = 0
    for number in range(5_000_000):
        total += number & 7
    return time.process_time() - begun


def measure(api: Api, kubelet: Process) -> dict[str, float]:
    """Start the pods, rest, end them; return the figures."""
    folder = "/api/v1/namespaces/perf"
    api.send("POST", "/api/v1/namespaces", {"metadata": {"name": "perf"}})
    api.send("POST", f"{folder}/serviceaccounts", {"metadata": {"name": "default"}})

    def items() -> list[dict[str, Any]]:
        return list(api.send("GET", f"{folder}/pods")["items"])

    found: dict[str, float] = {}
    cpu, begun = kubelet.cpu(), time.monotonic()
    for index in range(PODS):
        api.send("POST", f"{folder}/pods", pod(index))
    found["created after, s"] = time.monotonic() - begun
    found["running after, s"] = wait(lambda: all(one["status"].get("phase") == "Running" for one in items()), begun)
    found["CPU for that, s"] = kubelet.cpu() - cpu
    time.sleep(3)  # what follows the last start
    cpu = kubelet.cpu()
    time.sleep(REST_SECONDS)
    found["CPU at rest, %"] = (kubelet.cpu() - cpu) / REST_SECONDS * 100
    found["memory, MiB"] = kubelet.memory()
    cpu, begun = kubelet.cpu(), time.monotonic()
    for index in range(PODS):
        api.send("DELETE", f"{folder}/pods/p{index}", {"gracePeriodSeconds": 1})
    found["deletions sent after, s"] = time.monotonic() - begun
    found["gone after, s"] = wait(lambda: not items(), begun)
    found["CPU for the end, s"] = kubelet.cpu() - cpu
    return found


def main(lab: Path) -> int:
    """Print the figures beside their limits; return 1 when one is missed."""
    found = measure(Api(json.loads(lab.read_text())), Process.of(lab.parent))
    print(f"calibration: {calibration():.2f} s")
    for name, figure in found.items():
        limit = LIMITS[name]
        print(f"{name:24} {figure:8.1f}" + ("" if limit is None else f"   at most {limit:.1f}"))
    return int(any(limit is not None and found[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
