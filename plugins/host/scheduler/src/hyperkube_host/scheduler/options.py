"""The scheduler's options as typed values, one frozen record per concern; durations are in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.scheduler.flags import FAMILIES, FLAGS, NAME
from hyperkube_lib.leader_election import ElectionOptions, election_options

from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import FlagValues, merged, plugin_flags


class ConfigurationOptions(Record):
    """Where the profiles come from: a configuration file, a policy in a ConfigMap or file, or a provider's name."""

    config: str
    algorithm_provider: str
    scheduler_name: str
    policy_file: str
    policy_configmap: str
    policy_configmap_namespace: str
    use_legacy_policy: bool
    hard_pod_affinity_weight: int
    gates: Mapping[str, bool]

    @classmethod
    def of(cls, values: FlagValues) -> ConfigurationOptions:
        """Return the options that the values of flags make."""
        return cls(
            config=values["config"],
            algorithm_provider=values["algorithm-provider"],
            scheduler_name=values["scheduler-name"],
            policy_file=values["policy-config-file"],
            policy_configmap=values["policy-configmap"],
            policy_configmap_namespace=values["policy-configmap-namespace"],
            use_legacy_policy=values["use-legacy-policy-config"],
            hard_pod_affinity_weight=values["hard-pod-affinity-symmetric-weight"],
            gates=values["feature-gates"],
        )


class SchedulerOptions(Record):
    """All of them.

    Attributes:
        election: how the leader is elected; None: this process leads.
        bind_qps: bindings per second; 0 limits nothing, as long as neither flag of the limit is given.
        values: the flags, for the settings of plugins.
    """

    configuration: ConfigurationOptions
    election: ElectionOptions | None
    unschedulable_seconds: float
    explanations_file: Path | None
    bind_qps: float
    bind_burst: int
    profiling: bool
    gates: Mapping[str, bool]
    values: FlagValues

    @classmethod
    def of(cls, values: FlagValues) -> SchedulerOptions:
        """Return the options that the values of flags make."""
        # The default of 1.0 would make every cluster slow, so that it holds only for those who ask for a limit.
        limited = not values.given.isdisjoint({"bind-pods-qps", "bind-pods-burst"})
        file = values["explanations-file"]
        return cls(
            configuration=ConfigurationOptions.of(values),
            election=election_options(values, NAME) if values["leader-elect"] else None,
            unschedulable_seconds=values["pod-max-in-unschedulable-pods-duration"],
            explanations_file=Path(file) if file else None,
            bind_qps=values["bind-pods-qps"] if limited else 0.0,
            bind_burst=values["bind-pods-burst"] if limited else 0,
            profiling=values["profiling"],
            gates=values["feature-gates"],
            values=values,
        )

    @classmethod
    def in_process(cls, given: Mapping[str, Any]) -> SchedulerOptions:
        """Return the options of a scheduler within another program, which leads unless `given` says otherwise.

        Raises:
            UsageError: a flag that the scheduler and its plugins do not have, or a value that cannot be read.
        """
        flags = merged(NAME, FLAGS, plugin_flags(NAME, FAMILIES))
        return cls.of(FlagValues.of(flags, {"leader-elect": False, **given}))
