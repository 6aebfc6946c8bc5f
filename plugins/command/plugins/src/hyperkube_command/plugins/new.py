"""hyperkube plugins new: a distribution with a plugin in it, complete and with tests that pass.

The files stand in the folder ``templates``: one folder per family, ``families.toml`` for what differs beside the code,
and the texts that all have in common. ``$name`` and the like are replaced, nothing else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from hyperkube_command.plugins.catalog import FAMILIES

from hyperkube.hookspecs import HOOK_API
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIX = ".txt"
_PROGRAMS = {"command": "hyperkube.command.main", "server": "hyperkube.command.server_command"}
_COMMON = ("pyproject.toml", "README.md")


@cache
def families() -> Mapping[str, Mapping[str, Any]]:
    """Return the families that a plugin can be made for, each with what its templates need."""
    text = files("hyperkube_command.plugins").joinpath("templates", "families.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@dataclass(frozen=True, slots=True)
class NewPlugin:
    """A plugin that is to be: its family and the name that all others follow from, words with dashes between them."""

    family: str
    distribution: str

    @property
    def package(self) -> str:
        """The name it is imported by."""
        return self.distribution.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The name of its class."""
        return "".join(word.capitalize() for word in self.distribution.split("-"))

    @property
    def name(self) -> str:
        """The name of its entry point: what users type."""
        style = families()[self.family]["name"]
        return {"class": self.class_name, "server": f"kube-{self.distribution}"}.get(style, self.distribution)

    def files(self) -> dict[str, str]:
        """Return the files of the distribution by path."""
        folder = files("hyperkube_command.plugins").joinpath("templates")
        words = self._words()
        texts = {each: folder.joinpath(each + _SUFFIX).read_text(encoding="utf-8") for each in _COMMON}
        for each in folder.joinpath(self.family).iterdir():
            if each.name.endswith(_SUFFIX):
                texts[self._place(each.name.removesuffix(_SUFFIX))] = each.read_text(encoding="utf-8")
        return {path: Template(text).substitute(words) for path, text in sorted(texts.items())}

    def _place(self, name: str) -> str:
        if name == "test.py":
            return f"tests/test_{self.package}.py"
        return f"src/{self.package}/{'__init__.py' if name == 'plugin.py' else name}"

    def _words(self) -> dict[str, str]:
        about = families()[self.family]
        words = {
            "family": self.family,
            "distribution": self.distribution,
            "package": self.package,
            "class": self.class_name,
            "name": self.name,
            "plural": f"{self.class_name.lower()}s",
            "group": f"{self.distribution}.example.com",
            "hook_api": str(HOOK_API),
            "specification": FAMILIES.get(self.family) or _PROGRAMS[self.family],
        }
        target = {"api": f"{self.class_name}Api", "command": "command", "server": "COMMAND"}
        entry = f'{self.name} = "{self.package}:{target.get(self.family, self.class_name)}"'
        scripts = "".join(
            f"\n{line}\n" for line in ("[project.scripts]", *about.get("scripts", ())) if "scripts" in about
        )
        more = {
            "summary": about["summary"],
            "use": about["use"],
            "scripts": scripts.replace("\n\n", "\n"),
            "entry_points": "".join(f"{line}\n" for line in about.get("entry_points", (entry,))),
            "dependencies": _quoted("hyperkube-core", *about.get("dependencies", ())),
            "test_dependencies": _quoted("pytest", *about.get("test_dependencies", ())),
        }
        return {**words, **{key: Template(text).substitute(words) for key, text in more.items()}}


def _quoted(*names: str) -> str:
    return ", ".join(f'"{name}"' for name in names)


def planned(family: str, name: str) -> NewPlugin:
    """Return the plugin of a family and a name; words may be joined by dashes, underscores or capitals.

    Raises:
        UsageError: there is no such family, or the name is none that a distribution can have.
    """
    if family not in families():
        raise UsageError(f"unknown family {family!r} ({known_names(family, families(), 'families')})")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()
    if not _NAME.fullmatch(words):
        raise UsageError(
            f"{name!r} cannot be the name of a plugin: give words of letters and digits, like require-owner"
        )
    return NewPlugin(family, words)


def write(plugin: NewPlugin, folder: Path) -> None:
    """Write the files of a plugin into a folder that is not there yet.

    Raises:
        UsageError: there is something at that place, or it cannot be written.
    """
    if folder.exists():
        raise UsageError(f"{str(folder)!r} exists already: give another --folder")
    try:
        for path, text in plugin.files().items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {str(folder)!r}: {error.strerror}") from error
