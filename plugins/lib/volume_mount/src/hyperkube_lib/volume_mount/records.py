"""Records of volumes, files of JSON in the folders of their kinds: a later kubelet knows what to undo.

No secret stands in one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from hyperkube.hookspecs.volume import VolumeFailed

Known = TypeVar("Known")


def record_of(folder: Path) -> Path:
    """Return where the record of what a folder has is kept: beside it."""
    return folder.with_name(f"{folder.name}.json")


def write_record(file: Path, values: Mapping[str, Any], words: str) -> None:
    """Write a record; the folders above it are made.

    Raises:
        VolumeFailed: it cannot be written, in `words`, which have places for ``{file}`` and ``{error}``.
    """
    try:
        file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    except OSError as error:
        raise VolumeFailed(words.format(file=file, error=error.strerror)) from error


def read_record(file: Path, make: Callable[[Any], Known], prefix: str = "") -> Known | None:
    """Return what `make` makes of a record; None if there is none.

    Raises:
        VolumeFailed: it cannot be read, or `make` refuses it; the text begins with `prefix`.
    """
    try:
        return make(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise VolumeFailed(f"{prefix}decode {file}: {error}") from error
