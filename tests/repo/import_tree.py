"""Put the workspace on the import path as one folder of links: ``./dev setup`` calls this once all is installed.

uv adds a folder to the import path for each distribution that is installed in place. At each start Python reads a file
for each of these three hundred, and it asks as many folders for each module that there is not, as a dozen of its own
on other systems: a tenth of a second of CPU. Wheels put their modules beside one another; so do the links, which lead
to the sources, whatever is written there.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from workspace import ROOT, distributions

PATH_FILE = "workspace.pth"


class TwoModules(Exception):
    """Two distributions have a file of one name in one namespace."""


def links(sources: Iterable[Path]) -> dict[Path, Path]:
    """Return what leads where: each module, file of data or package with an ``__init__.py``, by its place in the tree.

    Raises:
        TwoModules: a place is taken twice.
    """
    found: dict[Path, Path] = {}
    for source in sources:
        pending = [source]
        while pending:
            for entry in pending.pop().iterdir():
                place = entry.relative_to(source)
                if entry.is_dir() and not (entry / "__init__.py").exists():
                    pending += [entry] if entry.name.isidentifier() and entry.name != "__pycache__" else []
                elif found.setdefault(place, entry) != entry:
                    raise TwoModules(f"{place} is in {found[place]} and in {entry}")
    return found


def write(tree: Path, wanted: dict[Path, Path]) -> None:
    """Make `tree` what is wanted; a link that is right already is never away, others may be importing."""
    for place, target in wanted.items():
        link = tree / place
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink() or link.readlink() != target:
            new = link.with_name(f".{link.name}")
            new.unlink(missing_ok=True)
            new.symlink_to(target)
            new.replace(link)
    for link in [each for each in tree.rglob("*") if each.is_symlink()]:
        if link.relative_to(tree) not in wanted:
            link.unlink()


def put_on_path(site: Path, tree: Path) -> None:
    """Have new processes import from the tree, and no longer from each distribution's folder."""
    (site / PATH_FILE).write_text(f"{tree}\n")
    for file in site.glob("hyperkube*.pth"):
        with suppress(OSError):
            if Path(file.read_text().strip()).is_relative_to(ROOT):
                file.unlink()


if __name__ == "__main__":
    place = Path(sys.prefix, "lib", "hyperkube")
    write(place, links(member.source for member in distributions()))
    put_on_path(Path(sysconfig.get_path("purelib")), place)
