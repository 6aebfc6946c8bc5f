"""The controller manager's options as typed values, in one frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_host.controller_manager.flags import FAMILIES, FLAGS, NAME
from hyperkube_lib.leader_election import ElectionOptions, election_options

from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import FlagValues, merged, plugin_flags

_SWITCHES = {
    "enable-garbage-collector": "garbagecollector",
    "enable-horizontal-pod-autoscaler": "horizontalpodautoscaling",
}
"""Flag → the controller that it switches off where it is false."""


class ControllerManagerOptions(Record):
    """All of them.

    Attributes:
        controllers: the parts of ``--controllers``.
        switched_off: controllers that have flags of their own for that, whatever `controllers` says.
        start_interval: seconds between the starts of two controllers.
        election: how the leader is elected; None: this process leads.
        values: the flags, for the settings of plugins and what is shown of them.
    """

    controllers: tuple[str, ...]
    switched_off: frozenset[str]
    start_interval: float
    election: ElectionOptions | None
    profiling: bool
    gates: Mapping[str, bool]
    values: FlagValues

    @classmethod
    def of(cls, values: FlagValues) -> ControllerManagerOptions:
        """Return the options that the values of flags make."""
        return cls(
            controllers=values["controllers"] or ("*",),
            switched_off=frozenset(name for flag, name in _SWITCHES.items() if not values[flag]),
            start_interval=values["controller-start-interval"],
            election=election_options(values, NAME) if values["leader-elect"] else None,
            profiling=values["profiling"],
            gates=values["feature-gates"],
            values=values,
        )

    @classmethod
    def in_process(cls, given: Mapping[str, Any]) -> ControllerManagerOptions:
        """Return the options of a manager within another program, which leads unless `given` says otherwise.

        Raises:
            UsageError: a flag that the manager and its plugins do not have, or a value that cannot be read.
        """
        flags = merged(NAME, FLAGS, plugin_flags(NAME, FAMILIES))
        return cls.of(FlagValues.of(flags, {"leader-elect": False, **given}))
