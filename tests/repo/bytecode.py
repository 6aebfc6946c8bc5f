"""Compile what the distributions of the workspace need from elsewhere: ``./dev setup`` calls this after an installation.

pip compiles what it installs, uv does not. Python does so at the first import, unless it may not write: each start of a
server would compile a thousand lines of others anew. What only tests and tools need is left to that.
"""

from __future__ import annotations

import compileall
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from workspace import distributions


def needed() -> Iterator[str]:
    """Yield the names of all installed distributions that those of the workspace require, one another aside."""
    ours = {member.name for member in distributions()}
    pending, seen = [*ours], set(ours)
    while pending:
        name = pending.pop()
        try:
            requirements = distribution(name).requires or ()
        except PackageNotFoundError:  # only with an extra, or for another system
            continue
        if name not in ours:
            yield name
        for requirement in map(Requirement, requirements):
            if requirement.name not in seen and (
                requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ):
                seen.add(requirement.name)
                pending.append(requirement.name)


def sources(name: str) -> list[str]:
    """Return the modules of a distribution, its tests aside."""
    files = distribution(name).files or ()
    return [str(file.locate()) for file in files if file.suffix == ".py" and "tests" not in file.parts]


def compiled(file: str) -> bool:
    """Compile a file, unless it is already; tell whether it can be."""
    return compileall.compile_file(file, quiet=2)


if __name__ == "__main__":
    modules = [file for name in needed() for file in sources(name)]
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(compiled, modules, chunksize=20))
