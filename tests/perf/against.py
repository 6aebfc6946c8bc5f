"""Two commits in turns: the API server's rows at this checkout and at another commit, in the same minutes.

``./dev perf --against COMMIT [--rounds N] [--only WORD ...]`` checks the commit out beside this tree, installs it, and asks
both servers the same, one after the other, round by round. Printed are medians: CPU of each request, and the rate as a
share of bare uvicorn's, which was asked in the same round. Needs wrk (``apt-get install wrk``); nothing here fails.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from api_requests import ROOT, Row, chosen, seed  # type: ignore[import-not-found]  # beside this file, not a package
from hyperkube_testing.peers.ports import free_port
from servers_under_load import (  # type: ignore[import-not-found]  # the same
    BIN,
    Measured,
    Served,
    api_server,
    bare,
    install_uvicorn,
    mean,
    running,
    wrk,
)

BARE = "uvicorn"
TURN, TURNS = 1, 4
HERE = Path(__file__).resolve().parents[2]


def checked_out(commit: str, stack: ExitStack) -> Path:
    """Check a commit out and install it; return where its programs are. It goes with the stack."""
    tree = folder_in(stack) / "tree"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), commit], cwd=HERE, check=True)
    stack.callback(subprocess.run, ["git", "worktree", "remove", "--force", str(tree)], cwd=HERE, check=True)
    print(f"installing {commit} ...", flush=True)
    subprocess.run(["./dev", "setup"], cwd=tree, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return tree / ".venv/bin"


def started(programs: Path, folder: Path, stack: ExitStack) -> Served:
    """Start an API server that has nothing but what the reads are about."""
    shutil.rmtree(folder / "data", ignore_errors=True)
    port = free_port()
    server = stack.enter_context(running(api_server(folder, port, programs), port, "/readyz"))
    seed(server)
    return server


def folder_in(stack: ExitStack) -> Path:
    """Return a folder that goes with the stack."""
    return Path(stack.enter_context(tempfile.TemporaryDirectory()))


def measured(row: Row, servers: Mapping[str, Served], folder: Path) -> dict[str, tuple[float, float]]:
    """Ask each server and bare uvicorn in turns; return CPU in microseconds and the share of uvicorn's rate.

    `folder` is one server's, and has uvicorn.
    """
    answered = row.ask.path if row.ask.method == "GET" else f"{ROOT}/pods/seed-000"
    answers = [server.send("GET", answered, accept=row.ask.accept)[1] for server in servers.values()]
    turns: dict[str, list[Measured]] = defaultdict(list)
    with bare(folder, answers[0]) as alone:
        order = [*servers.items(), (BARE, alone)]
        for _ in range(TURNS):
            for name, server in order:
                turns[name].append(server.load(row.ask, TURN))
            order.reverse()  # who comes after whom counts: the caches of the processor are the other's then
    base = mean(turns.pop(BARE))
    return {name: (mean(loads).cpu, mean(loads).rate / base.rate) for name, loads in turns.items()}


def compare(commit: str, rounds: int, only: list[str]) -> None:
    """Print a table of both."""
    wrk()
    rows = chosen(only)
    with ExitStack() as stack:
        programs = {"this": BIN, commit: checked_out(commit, stack)}
        folders = {name: folder_in(stack) for name in programs}
        install_uvicorn(folders["this"])
        found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", flush=True)
            with ExitStack() as round_of:  # what a round has created would be in the lists of the next
                servers = {name: started(path, folders[name], round_of) for name, path in programs.items()}
                for row in rows:
                    for name, figures in measured(row, servers, folders["this"]).items():
                        found[row.name, name].append(figures)
        print(
            f"{'':28}{'CPU us: this':>13}{commit[:12]:>14}{'ratio':>7} | {'share: this':>12}{commit[:12]:>14}{'k8s 1.36':>10}"
        )
        for row in rows:
            cpus = [statistics.median(cpu for cpu, _ in found[row.name, name]) for name in programs]
            shares = [statistics.median(share for _, share in found[row.name, name]) for name in programs]
            theirs = f"{row.theirs:.3f}" if row.theirs is not None else ""
            print(
                f"{row.name:28}{cpus[0]:13,.0f}{cpus[1]:14,.0f}{cpus[0] / cpus[1]:7.2f} | {shares[0]:12.3f}{shares[1]:14.3f}{theirs:>10}"
            )


def main(arguments: list[str]) -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(prog="./dev perf", description="Measure two commits in turns.")
    parser.add_argument("--against", required=True, metavar="COMMIT", help="the commit to compare this checkout with")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is asked (default 3)")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="rows whose names have one of the words")
    given = parser.parse_args(arguments)
    compare(given.against, given.rounds, given.only)


if __name__ == "__main__":
    main(sys.argv[1:])
