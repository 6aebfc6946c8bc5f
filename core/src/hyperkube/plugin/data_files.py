"""Files of data beside plugins: what a host must know of a plugin before it imports one.

A plugin that is a package, ``acme_plugins.tidy``, has ``NAME.toml`` in the package's folder; a plugin that is a single
module ``tidy.py`` has ``tidy.NAME.toml`` beside it; the file nearest to the module counts. Nothing of a plugin is
imported, because ``--help`` and a server's start ask about all that are installed, and few of them run. The files are
found by listing the folders of the import path, once for all hosts of a process, since the search of the import system
costs a look into each of hundreds of folders per plugin.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.import_path import ImportPath, import_path


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
    """Return the path of the file ``NAME.toml`` beside a plugin, None if there is none.

    A caller that asks about many plugins does so within `hyperkube.plugin.loader.one_look`.
    """
    place = _file_beside(import_path(), entry.module, f"{name}.toml")
    return Path(place) if place is not None else None


def _file_beside(path: ImportPath, module: str, file: str) -> str | None:
    """Return the file of that name that belongs to the plugin in a module; None if there is none."""
    package, *rest = module.split(".")
    part = path.part_with(package, rest[0]) if rest else None
    if part is None:
        return _beside(module, file)
    place = "/".join((part, *rest))
    places = [f"{place}.{file}"]
    for _ in rest:
        places.append(f"{place}/{file}")
        place = place.rpartition("/")[0]
    if (root := path.files_in(package).get("__init__.py")) is not None:  # a package of the plugin's own
        places.append(f"{root}/{file}")
    return next((place for place in places if os.access(place, os.R_OK)), None)


def _beside(module: str, file: str) -> str | None:
    """Return the same for a module that only the import system finds: of a zip-less import hook, say."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None  # the loader says so, when the plugin is chosen
    if spec is None or not spec.origin:
        return None
    origin = Path(spec.origin)
    place = origin.with_name(file) if origin.name == "__init__.py" else origin.with_name(f"{origin.stem}.{file}")
    return str(place) if place.is_file() else None
