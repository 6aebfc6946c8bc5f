"""Where the import path has what: each folder is listed once, instead of being asked about every file.

Where plugins are installed from their sources, each distribution may be a folder of the import path, hundreds in all,
and a family of plugins is a namespace with a part in dozens of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache

from hyperkube.plugin.loader import SeenPath, state_of_path


class ImportPath:
    """The listings of the folders of the import path, and of the parts of packages in them; they are kept."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(folders)
        self._packages: dict[str, dict[str, str]] = {}

    def folders_with(self, package: str) -> Sequence[str]:
        """Return the folders of the path that have a package or a part of it, or a module of that name, in order."""
        return [*self._listed.get(package, ()), *self._listed.get(f"{package}.py", ())]

    def part_with(self, package: str, module: str) -> str | None:
        """Return which of a package's parts has a module: the first of the path."""
        found = self.files_in(package)
        return found.get(module) or found.get(f"{module}.py")

    def files_in(self, package: str) -> Mapping[str, str]:
        """Return the files in all parts of a package: name → the first part that has it."""
        if package not in self._packages:
            found = self._packages[package] = dict[str, str]()
            for folder in self._listed.get(package, ()):
                part = f"{folder}/{package}" if folder else package
                with suppress(OSError):  # it is no folder, or cannot be read
                    for name in os.listdir(part):  # noqa: PTH208  no Path for each of hundreds of names
                        found.setdefault(name, part)
        return self._packages[package]

    @cached_property
    def _listed(self) -> Mapping[str, Sequence[str]]:
        """Return by name which folders of the path have it; each of them is listed once for all packages."""
        found: dict[str, list[str]] = {}
        for folder in self._folders:
            with suppress(OSError):
                for name in os.listdir(folder or "."):  # noqa: PTH208  see above
                    found.setdefault(name, []).append(folder)
        return found


def import_path() -> ImportPath:
    """Return the listings of the path as it is; the same as long as no folder of it changes."""
    return _import_path(state_of_path())


@lru_cache(maxsize=1)
def _import_path(state: SeenPath) -> ImportPath:
    return ImportPath(folder for folder, _ in state)
