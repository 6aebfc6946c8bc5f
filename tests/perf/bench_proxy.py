"""What a proxy costs with many Services of two endpoints: its start, one change, and its memory.

Run by hand, as root and on a quiet machine: ``.venv/bin/python tests/perf/bench_proxy.py --services 1000``. The proxy is
started in the laboratory of the proxy's recordings, where each start ends with connections to the Services; creating
5,000 of them takes minutes, and is no part of the figures. Shown are medians of ``--rounds`` and the pace of the machine
before and after each start (`servers_under_load.PACE`), with what kube-proxy 1.36.2 needed on the same work at a busy
hour. CPU is that of the proxy and of the programs that it ran. Exits with 1 when a figure is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from hyperkube_testing.peers.ports import free_port
from servers_under_load import BIN, pace, running  # type: ignore[import-not-found]  # beside this file, not a package

GOLDEN = Path(__file__).parents[3] / "shared" / "golden-proxy"
USERS = GOLDEN.parent / "golden" / "users.csv"
FIGURES = ("start_cpu_seconds", "change_cpu_seconds", "rss_mib_most")
LIMITS = {
    ("iptables", 1000): (0.7, 0.07, 1.2 * 87),
    ("nftables", 1000): (0.5, 0.24, 1.2 * 99),
    ("iptables", 5000): (33.0, 0.57, 1.2 * 153),
    ("nftables", 5000): (7.1, 4.7, 1.2 * 199),
}


def api_server(folder: Path, port: int) -> list[str]:
    """Return the command line of the laboratory's API server."""
    return [
        str(BIN / "hyperkube"), "apiserver", "--storage-backend=memory", "--bind-address=127.0.0.1",
        f"--secure-port={port}", f"--cert-dir={folder / 'certificates'}", f"--token-auth-file={USERS}",
        "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112",
    ]  # fmt: skip


def measured(server: str, mode: str, services: int) -> dict[str, float]:
    """Start a proxy once, with that many Services; return its figures."""
    command = [sys.executable, str(GOLDEN / "measure.py"), "--server", server, "--mode", mode]
    options = ["--services", str(services), "--proxy", f"{BIN / 'hyperkube'} proxy", "--prefix", f"bench{services}"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    """Print a table of figures and limits; return 1 when one is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--services", type=int, default=1000, choices=sorted({number for _, number in LIMITS}))
    parser.add_argument("--mode", action="append", choices=("iptables", "nftables"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    missed = False
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    paces = [pace()]
    port = free_port()
    with tempfile.TemporaryDirectory() as name, running(api_server(Path(name), port), port, "/readyz"):
        for _ in range(options.rounds):
            for mode in options.mode or ("iptables", "nftables"):
                for figure, value in measured(f"https://127.0.0.1:{port}", mode, options.services).items():
                    if figure in FIGURES:
                        found[mode, figure].append(value)
                paces.append(pace())
    print(f"{options.services} Services; pace {min(paces):.2f}-{max(paces):.2f} s")
    for (mode, figure), values in found.items():
        limit = LIMITS[mode, options.services][FIGURES.index(figure)]
        missed = missed or statistics.median(values) > limit
        print(f"{mode:9} {figure:19} {statistics.median(values):7.2f}   at most {limit:.2f}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
