"""Files of an installed distribution, as text: nothing of a library is imported."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path


@cache
def installed(name: str) -> Distribution | None:
    """Return an installed distribution, None where it is not there."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def version(name: str) -> str:
    """Return a distribution's version, empty where it is not there."""
    found = installed(name)
    return found.version if found is not None else ""


def text(name: str, path: str) -> str:
    """Return a file of a distribution, empty where the one or the other is not there."""
    found = installed(name)
    if found is None:
        return ""
    try:
        return Path(str(found.locate_file(path))).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def matching(name: str, folder: str, pattern: str) -> list[str]:
    """Return the paths of a distribution's files in a folder that match a pattern of file names, in their order."""
    found = installed(name)
    if found is None:
        return []
    root = Path(str(found.locate_file("")))
    return sorted(str(path.relative_to(root)) for path in root.joinpath(folder).glob(pattern))


def snake(name: str) -> str:
    """Return a name as Python clients spell it: ``CSIDriverSpec`` is ``csi_driver_spec``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def unescaped(text: str) -> str:
    """Return the text of a Python literal that escapes quotation marks and backslashes alone."""
    return re.sub(r"\\([\"'\\])", r"\1", text)
