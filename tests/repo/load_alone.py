"""Load the entry points of distributions, each in a process of its own that sees only what it declares.

Read lines of JSON from the standard input, ``[DISTRIBUTION, IMPORT PATH]``; write one for each, how loading failed or
``""``. A program of its own without imports but the standard library's, started with core and what core declares on
``PYTHONPATH``: that is on every distribution's path, so it is imported once, and the processes are forks of this one.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import tempfile
import traceback
from importlib.metadata import distribution

SHARED = ("hyperkube.machinery", "hyperkube.hookspecs", "hyperkube.client", "hyperkube.kinds", "hyperkube.plugin")
"""The packages of core whose modules nearly all plugins import."""


def import_shared() -> None:
    """Import what is on every distribution's import path."""
    for name in SHARED:
        for module in pkgutil.iter_modules(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(module.name)


def load(name: str, path: str, own: list[str]) -> None:
    """Load all entry points of a distribution for the house's hosts, with nothing but `path` and `own` to import from."""
    sys.path[:] = [*path.split(os.pathsep), *own]
    importlib.invalidate_caches()
    for entry in distribution(name).entry_points:
        if entry.group.startswith("hyperkube.") and not entry.group.endswith(".bundle"):
            entry.load()


def failure(name: str, path: str, own: list[str]) -> str:
    """Return what a fork that loads a distribution wrote before it failed, empty if it did not fail."""
    with tempfile.TemporaryFile() as output:
        fork = os.fork()
        if fork == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code = 1
            try:
                load(name, path, own)
                code = 0
            except BaseException:  # noqa: BLE001 -- whatever a plugin raises is what is asked for
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        _, status = os.waitpid(fork, 0)
        output.seek(0)
        return (output.read().decode(errors="replace")[-3000:] or f"status {status}") if status else ""


def main() -> None:
    """Answer the lines of the standard input."""
    shared = os.environ["PYTHONPATH"].split(os.pathsep)
    own = [folder for folder in sys.path[1:] if folder not in shared]
    import_shared()
    for line in sys.stdin:
        print(json.dumps(failure(*json.loads(line), own)), flush=True)


if __name__ == "__main__":
    main()
