"""Finding the policies of an entry of the configuration: a file or a module, whole or one function of it."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from hyperkube_admission.python_policy.declaration import ATTRIBUTE, Declaration

from hyperkube.machinery.dataclass import dataclass


class NotLoaded(Exception):
    """A policy cannot be loaded; ``str()`` says why in one line."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One policy: what it declares, the entry it came from, and its function."""

    declaration: Declaration
    entry: int
    function: Callable[..., Any]
    params: Mapping[str, Any]
    arguments: int
    """How many it takes: the review; and the cluster."""


def load(entries: Sequence[Mapping[str, Any]]) -> list[Loaded]:
    """Import the policies of all entries (``source``, ``name``, ``params``), in their order.

    Raises:
        NotLoaded: a module fails to import, holds no policy, or two policies have one name.
    """
    found: list[Loaded] = []
    for index, entry in enumerate(entries):
        own = _functions(str(entry["source"]))
        if entry.get("name") and len(own) > 1:
            raise NotLoaded(f"{entry['source']!r} holds {len(own)} policies: a name can be given to one function only")
        for function in own:
            declaration: Declaration = getattr(function, ATTRIBUTE)
            if entry.get("name"):
                declaration = replace(declaration, name=str(entry["name"]))
            found.append(Loaded(declaration, index, function, entry.get("params") or {}, _arguments(function)))
    names = [one.declaration.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise NotLoaded(f"two policies have the name {twice[0]!r}: give one entry a name of its own")
    return found


def files(loaded: Sequence[Loaded]) -> list[str]:
    """Return the source files of the policies' modules."""
    modules = {one.function.__module__ for one in loaded}
    return sorted({str(file) for name in modules if (file := getattr(sys.modules.get(name), "__file__", None))})


def _functions(source: str) -> list[Callable[..., Any]]:
    place, _, name = source.partition(":")
    module = _module(place)
    if name:
        function = getattr(module, name, None)
        if not hasattr(function, ATTRIBUTE):
            raise NotLoaded(f"{place!r} has no policy {name!r}: its policies are {', '.join(_names(module)) or 'none'}")
        return [function]  # type: ignore[list-item]  # what has the attribute is a function
    found = [getattr(module, each) for each in _names(module)]
    if not found:
        raise NotLoaded(f"{place!r} holds no policy: decorate a function with @validates or @mutates")
    return found


def _names(module: ModuleType) -> list[str]:
    """Return the names of a module's own policies, in the order of the source."""
    return [
        name
        for name, value in vars(module).items()
        if hasattr(value, ATTRIBUTE) and value.__module__ == module.__name__ and value.__name__ == name
    ]


def _module(place: str) -> ModuleType:
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        return _module_of(Path(place))
    except BaseException as error:  # whatever the author's code raises, also SystemExit
        line = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise NotLoaded(f"{place!r} cannot be loaded: {line}") from error


def _module_of(path: Path) -> ModuleType:
    """Return a file as a module, loaded once."""
    name = f"policies_of_{path.stem}_{abs(hash(path)):x}"
    if name in sys.modules:
        return sys.modules[name]
    loader = SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def _arguments(function: Callable[..., Any]) -> int:
    parameters = inspect.signature(function).parameters.values()
    needed = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_POSITIONAL]
    positional = [one for one in parameters if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}]
    if not positional or len(needed) > 2 or any(one.kind is one.KEYWORD_ONLY for one in needed):
        raise NotLoaded(f"policy {function.__name__!r} must take (review) or (review, cluster)")
    return min(len(positional), 2)
