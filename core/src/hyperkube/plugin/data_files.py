"""Files of data beside plugins: what a host must know of a plugin before it imports one.

A plugin that is a package, ``acme_plugins.tidy``, has ``NAME.toml`` in the package's folder; a plugin that is a single
module ``tidy.py`` has ``tidy.NAME.toml`` beside it. The files are found by listing folders of the import path: nothing
of a plugin is imported, so that hundreds of plugins cost milliseconds.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hyperkube.machinery.errors import UsageError


def read_data(entry: EntryPoint, name: str) -> Mapping[str, Any]:
    """Return the tables of the file ``NAME.toml`` beside a plugin; empty if there is none.

    Raises:
        UsageError: the file is not TOML; the message names it.
    """
    path = data_file(entry, name)
    if path is None:
        return {}
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error


@lru_cache(maxsize=1024)
def _parsed(path: Path, _changed_at: int) -> Mapping[str, Any]:
    """Parse a file once: each cluster of a process asks for all of them."""
    return MappingProxyType(tomllib.loads(path.read_text(encoding="utf-8")))


def data_file(entry: EntryPoint, name: str) -> Path | None:
    """Return the path of the file ``NAME.toml`` beside a plugin, None if there is none."""
    top, _, rest = entry.module.partition(".")
    found = _found(top, tuple(sys.path))
    if isinstance(found, Path):  # no namespace: the package's folder, or the module's file
        path = found / f"{name}.toml" if not found.suffix else found.with_name(f"{top}.{name}.toml")
        return path if path.is_file() else None
    part = rest.partition(".")[0]
    if f"{part}.py" in found:
        file = f"{part}.{name}.toml"
        return Path(found[file], file) if file in found else None
    path = Path(found.get(part, ""), part, f"{name}.toml")
    return path if part in found and path.is_file() else None


@lru_cache(maxsize=64)
def _found(top: str, _path: tuple[str, ...]) -> Path | Mapping[str, str]:
    """Return where a top-level package or module is, or of a namespace which name is in which of its folders."""
    spec = PathFinder.find_spec(top)
    if spec is None:
        return {}
    folders = spec.submodule_search_locations
    if spec.origin is not None:
        return Path(folders[0]) if folders is not None else Path(spec.origin)
    names: dict[str, str] = {}
    for folder in folders or ():
        try:
            for each in os.listdir(folder):  # noqa: PTH208  names are all that is needed
                names.setdefault(each, folder)
        except OSError:
            continue  # a folder of the import path that is gone
    return names
