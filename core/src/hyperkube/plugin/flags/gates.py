"""Feature gates that plugins bring: rows ``[[gate]]`` of their ``flags.toml``.

A server that may load the plugin reads them with ``--feature-gates``, lists them in its help, and fills in what holds
of those that were not given, so that a plugin finds each of its own in its context. All others are the servers'
own, and what those do not know is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from hyperkube.machinery.dataclass import dataclass
from hyperkube.plugin.flags.flag import Flag
from hyperkube.plugin.flags.kinds import Gates

STAGES = ("ALPHA", "BETA", "GA", "DEPRECATED")
FLAG = "feature-gates"


@dataclass(frozen=True, slots=True)
class PluginGate:
    """A feature gate of a plugin.

    Attributes:
        name: in CapWords, as Kubernetes spells its own.
        help: one line, lower case, no full stop: what is different where it is on.
        default: whether it is on where nothing is said.
        stage: how settled the feature is, one of `STAGES`.
        owner: the plugin and its distribution, for messages; plugins that declare the same gate share it.
    """

    name: str
    help: str
    default: bool
    stage: str
    owner: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.name}=true|false ({self.stage} - default={str(self.default).lower()}): {self.help}"


class GatesOfPlugins(Gates):
    """The value of ``--feature-gates`` of a server whose plugins have gates of their own."""

    def __init__(self, gates: Iterable[PluginGate]) -> None:
        self.gates = {gate.name: gate for gate in gates}

    def convert(self, value: Any) -> dict[str, bool]:
        """Read what was given and add the plugins' gates that were not."""
        return {name: gate.default for name, gate in self.gates.items()} | super().convert(value)


def gates_in(flags: Iterable[Flag]) -> Mapping[str, PluginGate]:
    """Return the gates of plugins among a server's flags, by name."""
    kind = next((flag.kind for flag in flags if flag.name == FLAG), None)
    return kind.gates if isinstance(kind, GatesOfPlugins) else {}


def with_gates(flag: Flag, gates: Iterable[PluginGate]) -> Flag:
    """Return ``--feature-gates`` as it reads, and tells of, the plugins' gates; any other flag as it is."""
    if flag.name != FLAG or not (known := GatesOfPlugins(gates)).gates:
        return flag
    listed = "; ".join(str(known.gates[name]) for name in sorted(known.gates))
    return replace(flag, kind=known, help=f"{flag.help}; of plugins: {listed}")


def gate_of(row: Mapping[str, Any]) -> PluginGate:
    """Return the gate that a row describes; its keys are checked already.

    Raises:
        ValueError: a value cannot be.
    """
    name, default, stage = str(row["name"]), row.get("default", False), row.get("stage", "ALPHA")
    if not (name[:1].isupper() and name.isalnum()):
        raise ValueError(f"gate {name!r}: the name is not in CapWords")
    if not isinstance(default, bool):
        raise ValueError(f"gate {name!r}: default {default!r} is not true or false")  # noqa: TRY004  a wrong file, as the others
    if stage not in STAGES:
        raise ValueError(f"gate {name!r}: stage {stage!r} is not one of {', '.join(STAGES)}")
    return PluginGate(name, str(row["help"]), default, stage)
