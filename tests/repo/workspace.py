"""The distributions of the workspace, read from their folders."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAMILY_FOLDERS = {"admission": "admission", "schedulers": "scheduler", "cloudproviders": "cloud"}


@dataclass(frozen=True, slots=True)
class Distribution:
    """One member of the workspace."""

    folder: Path
    family: str
    """The family's word; ``core`` for core itself."""
    project: dict[str, object]

    @property
    def name(self) -> str:
        """The distribution's name."""
        return str(self.project["name"])

    @property
    def snake(self) -> str:
        """The folder's own name."""
        return self.folder.name

    @property
    def source(self) -> Path:
        """The folder that goes on the import path."""
        return self.folder / "src"


def distributions() -> list[Distribution]:
    """Return all members, core first, then by folder."""
    found = [_read(ROOT / "core", "core")]
    for folder, family in FAMILY_FOLDERS.items():
        found += [_read(path.parent, family) for path in sorted((ROOT / folder).glob("*/pyproject.toml"))]
    found += [
        _read(path.parent, path.parents[1].name) for path in sorted((ROOT / "plugins").glob("*/*/pyproject.toml"))
    ]
    return found


@cache
def _read(folder: Path, family: str) -> Distribution:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return Distribution(folder, family, project)
