"""What tells one server that runs controllers from another, and its options as typed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hyperkube_lib.leader_election import ElectionOptions, election_options

from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin.flags import Flag, FlagValues, merged, plugin_flags


class ManagerSpec(Record):
    """One server that runs controllers.

    Attributes:
        name: the server's, which its lock has too.
        family: the family of the controllers that it runs.
        families: those of all plugins that it loads.
        flags: its own.
        user: whom it acts as where it is not one of its controllers.
        configuration: the group of its configuration, for ``/configz``.
        switches: flag → the controller that it switches off where it is false.
        check: raises UsageError where, if anywhere, the values of the flags do not fit one another.
    """

    name: str
    family: str
    families: tuple[str, ...]
    flags: tuple[Flag, ...]
    user: UserInfo
    configuration: str
    switches: Mapping[str, str] = MappingProxyType({})
    check: Callable[[FlagValues], None] | None = None


class ManagerOptions(Record):
    """All options of such a server.

    Attributes:
        spec: which server.
        controllers: the parts of ``--controllers``.
        switched_off: controllers that have flags of their own for that, whatever `controllers` says.
        start_interval: seconds between the starts of two controllers.
        election: how the leader is elected; None: this process leads.
        values: the flags, for the settings of plugins and what is shown of them.
    """

    spec: ManagerSpec
    controllers: tuple[str, ...]
    switched_off: frozenset[str]
    start_interval: float
    election: ElectionOptions | None
    profiling: bool
    gates: Mapping[str, bool]
    values: FlagValues

    @classmethod
    def of(cls, spec: ManagerSpec, values: FlagValues) -> ManagerOptions:
        """Return the options that the values of a server's flags make.

        Raises:
            UsageError: they do not fit one another.
        """
        if spec.check is not None:
            spec.check(values)
        return cls(
            spec=spec,
            controllers=values["controllers"] or ("*",),
            switched_off=frozenset(name for flag, name in spec.switches.items() if not values[flag]),
            start_interval=values["controller-start-interval"],
            election=election_options(values, spec.name) if values["leader-elect"] else None,
            profiling=values["profiling"],
            gates=values["feature-gates"],
            values=values,
        )

    @classmethod
    def in_process(cls, spec: ManagerSpec, given: Mapping[str, Any]) -> ManagerOptions:
        """Return the options of a server within another program, which leads unless `given` says otherwise.

        Raises:
            UsageError: a flag that the server and its plugins do not have, or a value that cannot be read.
        """
        flags = merged(spec.name, spec.flags, plugin_flags(spec.name, spec.families))
        return cls.of(spec, FlagValues.of(flags, {"leader-elect": False, **given}))
