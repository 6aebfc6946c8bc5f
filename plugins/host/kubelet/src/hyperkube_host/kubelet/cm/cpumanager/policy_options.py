"""The options of the static policy.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/policy_options.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import CpuTopology
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import SINGLE_NUMA_NODE

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

FULL_PCPUS_ONLY = "full-pcpus-only"
DISTRIBUTE_ACROSS_NUMA = "distribute-cpus-across-numa"
ALIGN_BY_SOCKET = "align-by-socket"
DISTRIBUTE_ACROSS_CORES = "distribute-cpus-across-cores"
STRICT_RESERVATION = "strict-cpu-reservation"
PREFER_UNCORE_CACHE = "prefer-align-cpus-by-uncorecache"
_STABLE = (FULL_PCPUS_ONLY, STRICT_RESERVATION)
_BETA = (DISTRIBUTE_ACROSS_NUMA, PREFER_UNCORE_CACHE)
_ALPHA = (ALIGN_BY_SOCKET, DISTRIBUTE_ACROSS_CORES)
_TRUE, _FALSE = {"1", "t", "T", "TRUE", "true", "True"}, {"0", "f", "F", "FALSE", "false", "False"}
_CONFLICTS = (
    (FULL_PCPUS_ONLY, DISTRIBUTE_ACROSS_CORES),
    (DISTRIBUTE_ACROSS_NUMA, DISTRIBUTE_ACROSS_CORES),
    (PREFER_UNCORE_CACHE, DISTRIBUTE_ACROSS_CORES),
    (PREFER_UNCORE_CACHE, DISTRIBUTE_ACROSS_NUMA),
)


class StaticPolicyOptions(Record):
    """How the static policy chooses CPUs.

    Attributes:
        full_pcpus_only: whole physical cores only; other requests are refused.
        distribute_across_numa: evenly from several NUMA nodes, where one is too small.
        align_by_socket: NUMA nodes of one socket are as good as one node.
        distribute_across_cores: threads of different cores.
        strict_reservation: reserved CPUs are not for pods that share, either.
        prefer_uncore_cache: CPUs that share a last level cache.
    """

    full_pcpus_only: bool = False
    distribute_across_numa: bool = False
    align_by_socket: bool = False
    distribute_across_cores: bool = False
    strict_reservation: bool = False
    prefer_uncore_cache: bool = False

    @classmethod
    def of(cls, given: Mapping[str, str], gates: Mapping[str, bool]) -> StaticPolicyOptions:
        """Return the options of ``--cpu-manager-policy-options``.

        Raises:
            UsageError: an option that is unknown, not enabled or in conflict with another, or no truth value.
        """
        chosen = {name: _read(name, value, gates) for name, value in given.items()}
        for one, other in _CONFLICTS:
            if chosen.get(one) and chosen.get(other):
                raise UsageError(f"static policy options {one} and {other} can not be used at the same time")
        return cls(
            full_pcpus_only=chosen.get(FULL_PCPUS_ONLY, False),
            distribute_across_numa=chosen.get(DISTRIBUTE_ACROSS_NUMA, False),
            align_by_socket=chosen.get(ALIGN_BY_SOCKET, False),
            distribute_across_cores=chosen.get(DISTRIBUTE_ACROSS_CORES, False),
            strict_reservation=chosen.get(STRICT_RESERVATION, False),
            prefer_uncore_cache=chosen.get(PREFER_UNCORE_CACHE, False),
        )

    def check(self, topology: CpuTopology, topology_policy: str) -> None:
        """Refuse what this machine, or the topology manager's policy, does not go with.

        Raises:
            UsageError: sockets cannot be aligned by here.
        """
        if not self.align_by_socket:
            return
        if topology_policy == SINGLE_NUMA_NODE:
            raise UsageError(
                f"Topolgy manager {SINGLE_NUMA_NODE} policy is incompatible with"
                f" CPUManager {ALIGN_BY_SOCKET} policy option"
            )
        if len(topology.sockets) > len(topology.numa_nodes):
            raise UsageError(
                "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA"
            )


def _read(name: str, value: str, gates: Mapping[str, bool]) -> bool:
    if name not in (*_STABLE, *_BETA, *_ALPHA):
        raise UsageError(f'unknown CPU Manager Policy option: "{name}"')
    if name in _ALPHA and not gates.get("CPUManagerPolicyAlphaOptions", False):
        raise UsageError(f'CPU Manager Policy Alpha-level Options not enabled, but option "{name}" provided')
    if name in _BETA and not gates.get("CPUManagerPolicyBetaOptions", True):
        raise UsageError(f'CPU Manager Policy Beta-level Options not enabled, but option "{name}" provided')
    if value not in _TRUE | _FALSE:
        raise UsageError(f'bad value for option "{name}": strconv.ParseBool: parsing "{value}": invalid syntax')
    return value in _TRUE
