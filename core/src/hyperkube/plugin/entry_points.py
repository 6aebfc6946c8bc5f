"""What distributions offer: the entry points of one project's groups, from the folders of the import path.

`importlib.metadata` answers the same. It makes some objects of every file it looks for, and reads the metadata of each
distribution for its name: with hundreds of distributions that is a tenth of a server's start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import Distribution, PathDistribution, distributions
from pathlib import Path

_INSTALLED = (".dist-info", ".egg-info")
_SECTION = re.compile(r"^\[\s*([^\]\s]+)\s*\]", re.MULTILINE)


def offers(folders: Iterable[str], prefix: str) -> dict[str, list[Callable[[], Distribution]]]:
    """Return the groups that begin with a prefix, and the distributions with entry points of each, in the path's order.

    Of two distributions of one name, the first hides the other.
    """
    found: dict[str, list[Callable[[], Distribution]]] = {}
    seen: set[str] = set()
    for name, text, distribution in _installed(folders):
        if name not in seen and f"[{prefix}" in text:
            for group in dict.fromkeys(_SECTION.findall(text)):
                if group.startswith(prefix):
                    found.setdefault(group, []).append(distribution)
        seen.add(name)
    return found


def _installed(folders: Iterable[str]) -> Iterator[tuple[str, str, Callable[[], Distribution]]]:
    """Yield the name of each distribution as files have it, the text of its entry points, and how to read the rest."""
    others: list[Distribution] = []
    for folder in folders:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208  no Path for each of hundreds of names
        except OSError:  # no folder: an archive, or nothing
            others += distributions(path=[folder])
            continue
        for name in names:
            if name.endswith(_INSTALLED):
                where = os.path.join(folder, name)  # noqa: PTH118  see above
                yield _comparable(name.partition("-")[0]), _text(where), partial(PathDistribution, Path(where))
    for each in (*others, *distributions(path=[])):  # archives, and what finders of other kinds know
        yield _comparable(each.name), each.read_text("entry_points.txt") or "", partial(_known, each)


def _text(folder: str) -> str:
    try:
        with open(f"{folder}/entry_points.txt", encoding="utf-8") as text:  # noqa: PTH123  see above
            return text.read()
    except OSError:
        return ""


def _comparable(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").lower()


def _known(distribution: Distribution) -> Distribution:
    return distribution
