"""marshmallow, whose patterns of e-mail addresses are compiled when one is matched: no API type has such a field.

They take 40 ms of every start, a twenty-fifth of it. Nothing else changes: the module that has them is executed with
a stand-in for `re`, and gets the real one back once it is defined.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

_PATTERNS = "marshmallow.validate"


class _LatePattern:
    """A pattern that is compiled when something is asked of it."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # abstract classes ask each of their attributes whether it is abstract
            raise AttributeError(name)
        pattern = re.compile(*self._arguments)
        self.__dict__.update(match=pattern.match, search=pattern.search)  # those need not come by here again
        return getattr(pattern, name)


class _LateRe:
    """The module `re`, but patterns are compiled late."""

    compile = _LatePattern

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)


def _import(name: str, *arguments: Any, **keywords: Any) -> Any:
    return _LateRe() if name == "re" else builtins.__import__(name, *arguments, **keywords)


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)
        vars(module)["re"] = re


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == _PATTERNS else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


_finder = _Finder()
sys.meta_path.insert(0, _finder)
try:
    import marshmallow as ma
finally:
    sys.meta_path.remove(_finder)

__all__ = ["ma"]
