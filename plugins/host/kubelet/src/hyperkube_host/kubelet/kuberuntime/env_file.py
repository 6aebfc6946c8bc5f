"""Files of environment variables: ``NAME='value'``, a line or more each.

Source: kubernetes ``pkg/util/env`` (ParseEnv), KEP-3721.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

LARGEST_FILE = 64 << 10
"""Bytes of the largest file that is read."""
_VARIABLE = re.compile(r"([^\s='#][^='\n]*?)='([^']*)'[ \t]*(?:\n|\Z)")
_NOTHING = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")


def parse_env_file(text: str) -> dict[str, str]:
    """Return name → value; a value is between single quotes, may have several lines, and means what it says.

    Raises:
        ValueError: a line is neither a variable, nor a comment, nor empty.
    """
    values: dict[str, str] = {}
    position = 0
    while position < len(text):
        nothing = _NOTHING.match(text, position)
        if nothing is not None:
            position = nothing.end()
            continue
        found = _VARIABLE.match(text, position)
        if found is None:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"invalid environment variable format at line {line}")
        values[found[1]] = found[2]
        position = found.end()
    return values


def read_below(folder: str, path: str) -> bytes:
    """Return the content of a file in a volume, through no link that leads out of it.

    Raises:
        OSError: it is not there, no file, or too large.
    """
    root = Path(folder).resolve()
    real = (root / path).resolve()
    if not real.is_relative_to(root):
        raise FileNotFoundError(2, "no such file or directory")
    # A FIFO that a container has put there must not hold the kubelet up.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as source:
        content = source.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise OSError(27, "file too large")
    return content
