"""Which CPUs are shared, and which belong to a container; kept in the file ``cpu_manager_state``.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/state`` (state_checkpoint.go, checkpoint.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import CheckpointCorrupt, CheckpointFile
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import NO_CPUS, CpuSet, format_cpu_set, parse_cpu_set

from hyperkube.machinery.errors import UsageError

FILE_NAME = "cpu_manager_state"


class CpuState:
    """The assignments of CPUs; each change is on disk when the call returns. Not for several threads at a time."""

    def __init__(self, folder: Path, policy: str) -> None:
        """Read the state that an earlier kubelet left.

        Raises:
            UsageError: it was left by another policy, or is corrupted.
        """
        self._file = CheckpointFile(folder / FILE_NAME, print_for_hash=print_as_go)
        self._policy = policy
        self.default: CpuSet = NO_CPUS
        self._assignments: dict[str, dict[str, CpuSet]] = {}
        try:
            self._restore(self._file.read())
        except (CheckpointCorrupt, ValueError, AttributeError) as error:
            raise UsageError(self._advice(str(error))) from error

    def _restore(self, content: dict[str, Any] | None) -> None:
        if content is None:
            self._store()
            return
        if content["policyName"] != self._policy:
            found = f'configured policy "{self._policy}" differs from state checkpoint policy "{content["policyName"]}"'
            raise UsageError(self._advice(found))
        self.default = parse_cpu_set(content["defaultCpuSet"])
        self._assignments = {
            uid: {name: parse_cpu_set(cpus) for name, cpus in containers.items()}
            for uid, containers in (content.get("entries") or {}).items()
        }

    def _advice(self, why: str) -> str:
        advice = "please drain this node and delete the CPU manager checkpoint file before restarting Kubelet"
        return f'could not restore state from checkpoint: {why}, {advice}: "{self._file.path}"'

    @property
    def assignments(self) -> Mapping[str, Mapping[str, CpuSet]]:
        """Pod uid → container → its own CPUs."""
        return self._assignments

    def own_cpus(self, uid: str, container: str) -> CpuSet | None:
        """Return the CPUs that a container has for itself, or None."""
        return self._assignments.get(uid, {}).get(container)

    def cpus_or_default(self, uid: str, container: str) -> CpuSet:
        """Return the CPUs that a container may run on; empty when nothing restricts it."""
        own = self.own_cpus(uid, container)
        return self.default if own is None else own

    def assign(self, uid: str, container: str, cpus: CpuSet, default: CpuSet) -> None:
        """Give CPUs to a container; `default` is what all others share from now on."""
        self._assignments.setdefault(uid, {})[container] = cpus
        self.default = default
        self._store()

    def release(self, uid: str, container: str) -> None:
        """Take a container's CPUs back for all, but for those that its siblings have, too."""
        containers = self._assignments.get(uid, {})
        cpus = containers.pop(container, None)
        if cpus is None:
            return
        self.default |= cpus - NO_CPUS.union(*containers.values())
        if not containers:
            del self._assignments[uid]
        self._store()

    def set_default(self, cpus: CpuSet) -> None:
        """Set what is shared."""
        self.default = cpus
        self._store()

    def _store(self) -> None:
        entries = {
            uid: {name: format_cpu_set(cpus) for name, cpus in sorted(containers.items())}
            for uid, containers in sorted(self._assignments.items())
        }
        content = {"policyName": self._policy, "defaultCpuSet": format_cpu_set(self.default)}
        self._file.write({**content, **({"entries": entries} if entries else {})})


def print_as_go(content: Mapping[str, Any]) -> str:
    """Return the state as Kubernetes prints its structure to take the checksum: so either kubelet reads the other's."""
    entries = " ".join(
        f"{uid}:map[{' '.join(f'{name}:{cpus}' for name, cpus in sorted(containers.items()))}]"
        for uid, containers in sorted((content.get("entries") or {}).items())
    )
    return (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){content['policyName']}"
        f" DefaultCPUSet:(string){content['defaultCpuSet']}"
        f" Entries:(map[string]map[string]string)map[{entries}] Checksum:(checksum.Checksum)0}}"
    )
