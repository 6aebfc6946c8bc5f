"""Find the workspace's modules without a look into each of its hundreds of folders.

An editable installation puts the folder of its sources on the import path. One such folder is nothing; with three hundred
of them every import that is not of the standard library asks each, in every process that a test starts. This module's
text, and with it the places of all modules, is what ``./dev setup`` writes into the environment (see `import_paths`).
It stands behind the import path: what that has, of whatever distribution, comes first, as before.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class WorkspaceFinder:
    """A finder of `sys.meta_path` that knows the folder of each module.

    Args:
        folders: a module's full name → the folder in which its file or its package is.
        namespaces: the name of a namespace package → its portions, one of each distribution.
    """

    def __init__(self, folders: Mapping[str, str], namespaces: Mapping[str, Sequence[str]]) -> None:
        self._folders = folders
        self._namespaces = namespaces

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of the workspace is, or one that another distribution adds to a namespace of ours."""
        if folder := self._folders.get(name):
            return PathFinder.find_spec(name, [folder], target)
        if portions := self._namespaces.get(name):
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = list(portions)
            return spec
        family = name.rpartition(".")[0]
        if family in self._namespaces:  # added since, or another distribution's
            beside = [f"{entry}/{family.replace('.', '/')}" for entry in sys.path]
            return PathFinder.find_spec(name, [*self._namespaces[family], *beside], target)
        return None

    def invalidate_caches(self) -> None:
        """Do nothing: `PathFinder` forgets what it knows of folders when it is told so itself."""


def install(folders: Mapping[str, str], namespaces: Mapping[str, Sequence[str]], sources: frozenset[str]) -> None:
    """Take the folders of sources off the import path, and put a finder behind it.

    In a virtual environment Python reads the files of paths twice, so this is called twice, too.
    """
    sys.path[:] = [entry for entry in sys.path if entry not in sources]
    if not any(isinstance(finder, WorkspaceFinder) for finder in sys.meta_path):
        sys.meta_path.append(WorkspaceFinder(folders, namespaces))
