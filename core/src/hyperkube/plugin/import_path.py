"""Where the import path has what: each folder is listed once, instead of being asked about every module.

Where plugins are installed from their sources, each distribution is a folder of the import path, hundreds in all, and a
family of plugins is a namespace with a part in dozens of them. The import system looks into one after another for each
module, which takes a tenth of a server's start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType

from hyperkube.plugin.loader import PROJECT, SeenPath, state_of_path


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


@contextmanager
def listed_imports() -> Iterator[None]:
    """Import families of plugins and their modules from where the path had them at the beginning of the context."""
    finder = _ListedFinder(import_path())
    sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _ListedFinder(MetaPathFinder):
    """Sends the import system to the folders that have a module; what is not listed the next finder looks for."""

    def __init__(self, path: ImportPath) -> None:
        self._path: ImportPath | None = path
        self._listed: dict[str, frozenset[str]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, module = fullname.partition(".")
        if self._path is None or not package.startswith(PROJECT):
            return None
        if path is not None and len(path) == 1:
            return self._spec_in(path[0], fullname)
        if "." in module:
            return None
        if not module:
            folders = self._path.folders_with(package)
            return PathFinder.find_spec(fullname, folders, target) if folders else None
        part = self._path.part_with(package, module)
        if part is None or path is None or part not in path:
            return None
        return self._spec_in(part, fullname)

    def _spec_in(self, folder: str, fullname: str) -> ModuleSpec | None:
        """Return the spec of a package or a module of Python source in a folder; each folder is listed once."""
        name = fullname.rpartition(".")[2]
        names = self._names(folder)
        if name in names and "__init__.py" in self._names(f"{folder}/{name}"):
            file, parts = f"{folder}/{name}/__init__.py", [f"{folder}/{name}"]
        elif f"{name}.py" in names:
            file, parts = f"{folder}/{name}.py", None
        else:
            return None  # a namespace, a compiled module, or one that came later
        loader = SourceFileLoader(fullname, file)
        return spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=parts)

    def _names(self, folder: str) -> frozenset[str]:
        if folder not in self._listed:
            try:
                self._listed[folder] = frozenset(os.listdir(folder))  # noqa: PTH208  no Path for each of many names
            except OSError:
                self._listed[folder] = frozenset()
        return self._listed[folder]

    def invalidate_caches(self) -> None:
        self._path = None
