# ruff: noqa: PTH123 - pathlib would cost each container's shim memory and start-up time
"""The files by which the kernel tells of processes and control groups."""

from __future__ import annotations


def read_text(path: str) -> str:
    """Return the content of a file, nothing where there is none (any more)."""
    try:
        with open(path, encoding="utf-8") as source:
            return source.read()
    except OSError:
        return ""
