"""What the manager knows of a controller before it is imported: its names, its service account, whether it is on.

A controller is installed under the name of the 1.x line, which users still type (``podgc``). What Kubernetes calls it
today, and everything else that differs from the usual, stands in ``controller.toml`` beside the plugin
(`hyperkube.plugin.data_files`), in a table of that name::

    [podgc]
    name = "pod-garbage-collector-controller"
    service_account = "pod-garbage-collector"

Sources: kubernetes ``cmd/kube-controller-manager/app/controller_descriptor.go``, ``names/controller_names.go`` there,
and the RBAC bootstrap policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, get_origin, get_type_hints

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.suggestions import known_names
from hyperkube.plugin.data_files import read_data
from hyperkube.plugin.loader import one_look

FILE = "controller"


@dataclass(frozen=True, slots=True)
class ControllerDescriptor:
    """One installed controller.

    Attributes:
        alias: the name that it is installed under, and that ``--controllers`` has taken since 1.x.
        name: Kubernetes' canonical name, which ``--controllers`` takes too and health checks show.
        service_account: whom it acts as, in ``kube-system``.
        queue: what metrics call its work queue; where it has several, the one of its own objects. Each is named in the
            constructor of the controller below kubernetes ``pkg/controller``.
        disabled_by_default: ``*`` in ``--controllers`` leaves it out.
        requires_special_handling: it acts as the manager itself.
        aliases: more names that ``--controllers`` takes.
        feature_gates: it runs only where all of these are on; with what holds of each where nothing is said.
    """

    alias: str
    name: str
    service_account: str
    queue: str
    disabled_by_default: bool = False
    requires_special_handling: bool = False
    aliases: Sequence[str] = ()
    feature_gates: Mapping[str, bool] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """All names that ``--controllers`` takes for it."""
        return frozenset({self.alias, self.name, *self.aliases})

    @classmethod
    def of(cls, alias: str, table: Mapping[str, Any]) -> ControllerDescriptor:
        """Make a descriptor from the plugin's table; what the table leaves out is as for most controllers.

        Raises:
            UsageError: a key that is unknown, or a value of another type.
        """
        usual = {"name": f"{alias}-controller", "service_account": f"{alias}-controller", "queue": alias}
        kinds = _kinds()
        for key, value in table.items():
            if key not in kinds:
                raise UsageError(f"controller {alias!r}: unknown key {key!r} (known: {', '.join(sorted(kinds))})")
            if not isinstance(value, kinds[key]):
                raise UsageError(f"controller {alias!r}: {key} must be a {kinds[key].__name__}, not {value!r}")
        return cls(alias, **{**usual, **table})


@cache
def _kinds() -> Mapping[str, type]:
    """Return the type of each key that a table may have."""
    hints = get_type_hints(ControllerDescriptor).items()
    return {key: get_origin(kind) or kind for key, kind in hints if key != "alias"}


Descriptors = Mapping[str, ControllerDescriptor]
"""Alias → descriptor."""


@one_look()
def descriptors(installed: Mapping[str, EntryPoint]) -> Descriptors:
    """Return the descriptors of installed controllers, importing none.

    Raises:
        UsageError: a controller's data are wrong, or two controllers go by one name.
    """
    found: dict[str, ControllerDescriptor] = {}
    owners: dict[str, str] = {}
    for alias, entry in installed.items():
        made = found[alias] = ControllerDescriptor.of(alias, read_data(entry, FILE).get(alias, {}))
        for name in made.names:
            if name in owners:
                raise UsageError(f"controllers {owners[name]!r} and {alias!r} both go by the name {name!r}")
            owners[name] = alias
    return found


def gated(known: Descriptors, names: Sequence[str], gates: Mapping[str, bool]) -> list[str]:
    """Return those of the controllers whose feature gates are all on; the others are not even imported."""
    return [
        name for name in names if all(gates.get(gate, default) for gate, default in known[name].feature_gates.items())
    ]


def chosen(known: Descriptors, wanted: Sequence[str]) -> list[str]:
    """Return the aliases of the controllers to run, sorted.

    Args:
        known: the installed controllers.
        wanted: the parts of ``--controllers``: ``*`` for all that are on by default, ``foo`` enables, ``-foo``
            disables, whatever the order; canonical names and further aliases do as well.

    Raises:
        UsageError: a name that no installed controller has; the message lists the installed ones.
    """
    by_name = {name: alias for alias, each in known.items() for name in each.names}
    enabled: set[str] = set()
    disabled: set[str] = set()
    everything = False
    for part in wanted:
        if part == "*":
            everything = True
            continue
        name = part.removeprefix("-")
        if name not in by_name:
            listed = known_names(name, known)
            raise UsageError(f"--controllers: {name!r} is not an installed controller ({listed})")
        (disabled if part.startswith("-") else enabled).add(by_name[name])
    if everything:
        enabled |= {alias for alias, each in known.items() if not each.disabled_by_default}
    return sorted(enabled - disabled)
