"""Try each distribution with nothing but what it declares: load its entry points, then run its tests with their kits.

An environment is not installed but composed: an empty one, and an import path with links to the declared distributions,
and those that they declare, as they are installed in the workspace. The entry points are loaded without any test tool.

Then each server is started from its host alone and from the smallest set of plugins that it works with.

Those that are named are tried; else those that the last commits or the working tree touched (at most ten); with
``--all`` every one, or with ``--part 2/5`` the second fifth of all, so that a nightly run can go round.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from queue import SimpleQueue
from typing import Self

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from small_servers import SERVERS, Start
from workspace import ROOT, Distribution, distributions

TOOLS = ("pytest", "pytest-timeout", "hypothesis", "httpx")
AT_ONCE = 2
NO_TESTS = 5
"""What pytest returns where all tests of a module need another plugin, and are skipped."""
LOADER = Path(__file__).with_name("load_alone.py")


def touched(members: list[Distribution]) -> list[Distribution]:
    """Return the members with changes since the commit before the last twenty, newest tree included."""
    base = subprocess.run(
        ["git", "rev-list", "--max-count=1", "--skip=20", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    diff = ["git", "diff", "--name-only", base] if base else ["git", "ls-files"]
    names = subprocess.run(diff, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    folders = [str(member.folder.relative_to(ROOT)) + "/" for member in members]
    return [member for member, folder in zip(members, folders, strict=True) if any(n.startswith(folder) for n in names)]


@cache
def _declared(name: str, extra: str) -> tuple[Requirement, ...]:
    """Return what an installed distribution itself asks for here, with one of its extras (``""``: with none)."""
    asked = map(Requirement, metadata.distribution(name).requires or ())
    return tuple(each for each in asked if each.marker is None or each.marker.evaluate({"extra": extra}))


@cache
def _tops(name: str) -> tuple[Path, tuple[Path, ...]]:
    """Return where an installed distribution is, and which of its files or folders are put into an import path."""
    installed = metadata.distribution(name)
    files = {Path(*file.parts[: None if file.parts[0] in _shared() else 1]) for file in installed.files or ()}
    return Path(str(installed.locate_file(""))), tuple(sorted(file for file in files if file.parts[0] != ".."))


@cache
def requirements(name: str, extras: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the canonical names of what an installed distribution needs, transitively, and its own."""
    found = {canonicalize_name(name)}
    pending = [(name, extras)]
    seen = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        for extra in (*current[1], ""):
            for each in _declared(current[0], extra):
                found.add(canonicalize_name(each.name))
                pending.append((each.name, tuple(sorted(each.extras))))
    return frozenset(found)


def compose(site: Path, names: frozenset[str], members: dict[str, Distribution]) -> str:
    """Fill a folder with links to distributions; return the import path on which exactly those are found."""
    site.mkdir()
    sources = []
    for name in sorted(names):
        member = members.get(name)
        if member is not None:
            sources.append(str(member.source))
        origin, files = _tops(name)
        for file in files:
            if member is None or file.parts[0].endswith(".dist-info"):
                _link(site, origin, file)
    return os.pathsep.join([str(site), *sources])


@cache
def _shared() -> frozenset[str]:
    """Return the folders that several distributions put files into (``google``): their files are linked one by one."""
    return frozenset(top for top, owners in metadata.packages_distributions().items() if len(set(owners)) > 1)


def _link(site: Path, origin: Path, file: Path) -> None:
    target = site / file
    if not target.is_symlink() and (origin / file).exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(origin / file)


def kits(member: Distribution) -> set[str]:
    """Return the testing kits and libraries that the tests of a distribution import, beside what it declares."""
    texts = "".join(path.read_text() for path in (member.folder / "tests").rglob("*.py"))
    found = re.findall(r"\bhyperkube_(testing)\.(\w+)|^from hyperkube_(lib)\.(\w+)", texts, re.MULTILINE)
    return {_owners()[f"hyperkube_{kit or lib}/{kind or name}"] for kit, kind, lib, name in found}


@cache
def _owners() -> dict[str, str]:
    """Return which distribution of the workspace has a module, by ``NAMESPACE/MODULE``."""
    modules = ((member, entry) for member in distributions() for entry in member.source.glob("hyperkube_*/*"))
    return {f"{entry.parent.name}/{entry.stem}": member.name for member, entry in modules}


class Loader:
    """A process that loads distributions, each in a fork; started with core and what core declares. A context manager."""

    def __init__(self, python: str, path: str) -> None:
        self._process = subprocess.Popen(
            [python, str(LOADER)], env={**os.environ, "PYTHONPATH": path}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def failure(self, name: str, path: str) -> str:
        """Return why the entry points of a distribution cannot be loaded from an import path, empty if they can.

        Raises:
            EOFError: the process ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([name, path]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise EOFError(f"{LOADER.name} ended at {name}")
        return str(json.loads(answer))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


@dataclass(frozen=True, slots=True)
class Attempt:
    """How to try distributions: with which interpreter and free loaders, and whether their tests are run too."""

    python: str
    folder: Path
    members: dict[str, Distribution]
    with_tests: bool
    loaders: SimpleQueue[Loader]

    def failure(self, member: Distribution) -> str:
        """Return why a distribution does not stand alone, empty if it does."""
        needed = requirements(member.name)
        site = self.folder / member.name
        path = compose(site, needed, self.members)
        loader = self.loaders.get()
        failed = loader.failure(member.name, path)
        self.loaders.put(loader)
        if failed or not self.with_tests:
            return failed and f"an entry point cannot be loaded\n{failed}"
        tools = frozenset().union(*(requirements(tool) for tool in (*TOOLS, *kits(member))))
        path = compose(self.folder / f"{member.name}-tests", needed | tools, self.members)
        options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), str(member.folder / "tests")]
        return self._run(path, "-m", "pytest", *options)

    def _run(self, path: str, *arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": path}
        command = [self.python, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        return "" if done.returncode in {0, NO_TESTS} else f"{done.stdout[-3000:]}{done.stderr[-3000:]}"


def attempt(chosen: list[Distribution], members: list[Distribution], *, with_tests: bool) -> list[str]:
    """Try distributions, two at a time; print how each went and return the names of those that failed."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        venv.create(f"{folder}/venv", symlinks=True)
        python = f"{folder}/venv/bin/python"
        by_name = {canonicalize_name(member.name): member for member in members}
        core = compose(Path(folder) / "core", requirements(members[0].name), by_name)
        loaders: SimpleQueue[Loader] = SimpleQueue()
        for _ in range(AT_ONCE):
            loaders.put(stack.enter_context(Loader(python, core)))
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        how = Attempt(python, Path(folder), by_name, with_tests, loaders)
        failed = []
        for member, failure in zip(chosen, pool.map(how.failure, chosen), strict=True):
            print(f"{member.name}: {failure or 'ok'}", flush=True)
            if failure:
                failed.append(member.name)
    return failed


def small_servers(members: list[Distribution]) -> list[str]:
    """Start each server from its smallest set, two at a time; print how each went and return those that failed."""
    by_name = {canonicalize_name(member.name): member for member in members}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        venv.create(f"{folder}/venv", symlinks=True)
        starts = [
            Start(server, name, f"{folder}/venv/bin/python", Path(folder) / f"{server.word}-{name}", path)
            for server in SERVERS
            for name, plugins in (("alone", ()), ("small", server.plugins))
            if (path := compose(Path(folder) / f"{server.word}-{name}-site", _closure(server.host, *plugins), by_name))
        ]
        failed = []
        for start, failure in zip(starts, pool.map(Start.failure, starts), strict=True):
            print(f"{start}: {failure or 'ok'}", flush=True)
            if failure:
                failed.append(str(start))
    return failed


def _closure(*names: str) -> frozenset[str]:
    return frozenset().union(*(requirements(name) for name in names))


def main() -> int:
    """Try the chosen distributions; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="distributions, e.g. hyperkube-core")
    parser.add_argument("--all", action="store_true", help="every distribution, not only the touched ones")
    parser.add_argument("--part", default="1/1", help="with --all: which part of them, e.g. 2/5")
    parser.add_argument("--load-only", action="store_true", help="load the entry points, run no tests")
    parser.add_argument("--at-most", type=int, default=10, help="without --all: how many to try")
    arguments = parser.parse_args()
    members = distributions()
    unknown = set(arguments.names) - {member.name for member in members}
    if unknown:
        parser.error(f"no distributions: {', '.join(sorted(unknown))}")
    plugins = [member for member in members if member.family != "bundle"]
    index, _, parts = arguments.part.partition("/")
    if arguments.names:
        chosen = [member for member in members if member.name in arguments.names]
    elif arguments.all:
        chosen = plugins[int(index) - 1 :: int(parts)]
    else:
        chosen = touched(plugins)[: arguments.at_most]
    failed = attempt(chosen, members, with_tests=not arguments.load_only)
    if not arguments.names and not arguments.load_only:
        failed += small_servers(members)
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
