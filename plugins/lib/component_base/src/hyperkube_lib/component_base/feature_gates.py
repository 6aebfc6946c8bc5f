"""Which feature gates there are: a misspelt one is an error, and one that nothing here reads says so.

The table beside this module has one gate a line: its name, ``locked`` where 1.36 does not let it be switched off any
more, and ``acts`` where something in this house reads it. Plugins of others declare theirs beside their flags.

Source: kubernetes component-base ``featuregate/feature_gate.go``; the names are those of release 1.36
(``test/compatibility_lifecycle/reference``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import closest
from hyperkube.plugin.flags import Flag, gates_in

_TABLE = Path(__file__).with_name("feature_gates.txt")
_log = logging.getLogger("hyperkube.featuregate")


@dataclass(frozen=True, slots=True)
class FeatureGate:
    """One gate; a `locked` one stays true, and only one that `acts` changes anything here."""

    name: str
    locked: bool
    acts: bool


@cache
def known_gates() -> Mapping[str, FeatureGate]:
    """Return all gates by name."""
    rows = (line.split() for line in _TABLE.read_text(encoding="utf-8").splitlines())
    return {name: FeatureGate(name, "locked" in marks, "acts" in marks) for name, *marks in rows}


def locked_gates() -> list[str]:
    """Return the gates that cannot be switched off any more."""
    return sorted(gate.name for gate in known_gates().values() if gate.locked)


def check_gates(given: Mapping[str, bool], flags: Iterable[Flag] = ()) -> None:
    """Check the gates of ``--feature-gates``; warn of those without effect.

    Args:
        given: gate → on or off.
        flags: the server's; they know the gates of its plugins.

    Raises:
        UsageError: there is no such gate, or it cannot be switched off, or a plugin took a name of Kubernetes' own.
    """
    if not given:
        return
    known, of_plugins = known_gates(), gates_in(flags)
    for name, value in given.items():
        gate, taken = known.get(name), of_plugins.get(name)
        if taken is not None:
            if gate is not None:
                raise UsageError(f"feature gate {name} of {taken.owner} is one of Kubernetes' own")
            continue
        if gate is None:
            near = closest(name, [*known, *of_plugins])
            hint = f" (did you mean {near}?)" if near else ""
            raise UsageError(f"invalid argument for --feature-gates: unrecognized feature gate: {name}{hint}")
        if gate.locked and not value:
            raise UsageError(
                "invalid argument for --feature-gates: cannot set feature gate"
                f" {name} to false, feature is locked to true"
            )
        if not gate.acts:
            _log.warning("feature gate %s=%s has no effect: nothing here depends on it", name, str(value).lower())
