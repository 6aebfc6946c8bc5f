"""A network as a file describes it: a name, a version, and the programs that make it, one after the other.

Sources: CNI ``SPEC.md`` section 1, ``libcni/conf.go`` (ConfListFromBytes, ConfListFromConf).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_lib.cni.errors import InvalidNetwork

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import quote

VERSIONS = ("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")
"""The versions of the specification, oldest first."""
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.\-]*")

Configuration = Mapping[str, Any]
"""A program's part of a network's configuration, as it stands in the file."""


def at_least(version: str, wanted: str) -> bool:
    """Tell whether a known version is not older than another."""
    return VERSIONS.index(version) >= VERSIONS.index(wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkList:
    """A network.

    Attributes:
        version: of the specification, which all its programs are asked by.
        checks: whether CHECK may be asked (``disableCheck``).
        collects_garbage: whether GC may be asked (``disableGC``).
        text: the configuration as it was read: what the cache remembers.
    """

    name: str
    version: str
    plugins: tuple[Configuration, ...]
    text: str
    checks: bool = True
    collects_garbage: bool = True

    @property
    def types(self) -> list[str]:
        """The names of its programs, also those that hand out addresses for others."""
        found = [plugin["type"] for plugin in self.plugins]
        return [*found, *(ipam["type"] for plugin in self.plugins if (ipam := plugin.get("ipam") or {}).get("type"))]


def parse_network(text: str) -> NetworkList:
    """Return the network of a file: a list of programs (``.conflist``), or a single one (``.conf``).

    Raises:
        InvalidNetwork: the text says why.
    """
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise InvalidNetwork(f"error parsing configuration: {error}") from error
    if not isinstance(raw, dict):
        raise InvalidNetwork("error parsing configuration: it is not an object")
    plugins = raw.get("plugins") if "plugins" in raw else [raw]
    if not isinstance(plugins, list) or not plugins:
        raise InvalidNetwork("error parsing configuration list: no plugins in list")
    for plugin in plugins:
        if not isinstance(plugin, dict) or not isinstance(plugin.get("type"), str) or not plugin["type"]:
            raise InvalidNetwork("error parsing configuration list: missing 'type' field in a plugin")
        if "/" in plugin["type"]:
            raise InvalidNetwork(f"invalid plugin name: {plugin['type']}")
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidNetwork("error parsing configuration list: no name")
    if not _NAME.fullmatch(name):
        raise InvalidNetwork(f"invalid characters found in network name: {name}")
    return NetworkList(
        name=name,
        version=_version(raw),
        plugins=tuple(plugins),
        text=text,
        checks=not _flag(raw, "disableCheck"),
        collects_garbage=not _flag(raw, "disableGC"),
    )


def _version(raw: Configuration) -> str:
    """Return the newest version that the file offers and that is known here."""
    offered = raw.get("cniVersions") or []
    if not isinstance(offered, list):
        raise InvalidNetwork("error parsing configuration list: invalid type for cniVersions")
    known = [version for version in VERSIONS if version in (*offered, raw.get("cniVersion", ""))]
    if known:
        return known[-1]
    given = raw.get("cniVersion", "")
    if not given and not offered:
        return "0.2.0"  # what a configuration of before the field means
    raise InvalidNetwork(f"unsupported CNI version {quote(str(given or offered))} (supported: {', '.join(VERSIONS)})")


def _flag(raw: Configuration, name: str) -> bool:
    value = raw.get(name, False)
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise InvalidNetwork(f"error parsing configuration list: invalid value {quote(str(value))} for {name}")
    return value


def program_input(
    network: NetworkList, plugin: Configuration, capabilities: Mapping[str, Any], previous: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return what a program of a network reads from its standard input.

    Args:
        network: the network.
        plugin: the program's part of it.
        capabilities: what the runtime could tell; a program gets what it says it understands.
        previous: the result of the programs before it.
    """
    given: dict[str, Any] = {**plugin, "name": network.name, "cniVersion": network.version}
    understood = [name for name, wanted in (plugin.get("capabilities") or {}).items() if wanted is True]
    told = {name: capabilities[name] for name in understood if name in capabilities}
    if told:
        given["runtimeConfig"] = told
    if previous is not None:
        given["prevResult"] = previous
    return given


def newest_common(offered: Sequence[str]) -> str:
    """Return the newest of some versions that is known here, empty when none is."""
    known = [version for version in VERSIONS if version in offered]
    return known[-1] if known else ""
