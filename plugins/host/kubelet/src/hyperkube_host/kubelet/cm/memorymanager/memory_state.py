"""How much of each kind of memory every NUMA node has left, and who has the rest.

Sources: kubernetes ``pkg/kubelet/cm/memorymanager/state``, ``memory_manager.go`` (getSystemReservedMemory).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import (
    CheckpointCorrupt,
    CheckpointFile,
    canonical_json,
)
from hyperkube_host.kubelet.cm.topologymanager.hints import SYSTEM_NODES
from hyperkube_host.kubelet.qos.resource_config import huge_page_resource

from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.quantity import Quantity

FILE_NAME = "memory_manager_state"
MEMORY = "memory"
KindSizes = dict[str, int]
"""Kind of memory (``memory``, ``hugepages-2Mi``) → bytes."""


@dataclass(slots=True)
class MemoryTable:
    """One kind of memory of a node, in bytes."""

    total: int
    systemReserved: int  # noqa: N815 - as the checkpoint names it
    allocatable: int
    reserved: int
    free: int


@dataclass(slots=True)
class NumaNodeState:
    """What a node has; `cells` are the nodes that memory was given from together with it, itself included."""

    numberOfAssignments: int  # noqa: N815 - as the checkpoint names it
    memoryMap: dict[str, MemoryTable]  # noqa: N815 - as the checkpoint names it
    cells: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Block:
    """Memory of one kind that a container has from some nodes."""

    numaAffinity: list[int]  # noqa: N815 - as the checkpoint names it
    type: str
    size: int


MachineState = dict[int, NumaNodeState]


def node_memory(folder: Path = SYSTEM_NODES) -> dict[int, KindSizes]:
    """Return NUMA node → the memory that it has, huge pages included in ``memory``."""
    found: dict[int, KindSizes] = {}
    for node in folder.glob("node[0-9]*"):
        sizes = {MEMORY: _total(node / "meminfo")}
        for pages in (node / "hugepages").glob("hugepages-*"):
            size = int(pages.name.removeprefix("hugepages-").removesuffix("kB")) << 10
            sizes[huge_page_resource(size)] = size * int((pages / "nr_hugepages").read_text())
        found[int(node.name.removeprefix("node"))] = sizes
    return found


def _total(file: Path) -> int:
    for line in file.read_text().splitlines():
        words = line.split()
        if "MemTotal:" in words:
            return int(words[words.index("MemTotal:") + 1]) << 10
    return 0


def initial_machine_state(machine: Mapping[int, KindSizes], reserved: Mapping[int, KindSizes]) -> MachineState:
    """Return the state of a machine of which containers have nothing yet."""
    state: MachineState = {}
    for node, sizes in machine.items():
        pages = sum(size for kind, size in sizes.items() if kind != MEMORY)
        tables = {}
        for kind, total in sizes.items():
            kept = reserved.get(node, {}).get(kind, 0)
            left = total - kept - (pages if kind == MEMORY else 0)
            if left < 0:
                raise UsageError(
                    f"[memorymanager] NUMA node {node} has {total} bytes of {kind}, of which {kept} cannot be reserved"
                )
            tables[kind] = MemoryTable(total, kept, left, 0, left)
        state[node] = NumaNodeState(0, tables, [node])
    return state


def check_reserved(
    machine: Iterable[int], reserved: Mapping[int, KindSizes], node_allocatable: Mapping[str, Quantity]
) -> None:
    """Refuse reserved memory that is not, in sum, what node allocatable reserves.

    Raises:
        UsageError: it is more or less, of a node that is not there, or none at all.
    """
    totals: KindSizes = {}
    known = set(machine)
    for node, sizes in reserved.items():
        if node not in known:
            raise UsageError(
                f"the reserved memory configuration references a NUMA node {node} that does not exist on this machine"
            )
        for kind, size in sizes.items():
            totals[kind] = totals.get(kind, 0) + size
    wanted = {
        name: amount.value()
        for name, amount in node_allocatable.items()
        if name == MEMORY or name.startswith(HUGE_PAGES_PREFIX)
    }
    for kind in sorted(totals.keys() | wanted.keys()):
        if totals.get(kind, 0) != wanted.get(kind, 0):
            found, expected = (str(Quantity(each.get(kind, 0), form="BinarySI")) for each in (totals, wanted))
            raise UsageError(
                f'the total amount "{found}" of type "{kind}" is not equal to the value "{expected}"'
                " determined by Node Allocatable feature"
            )
    if not totals.get(MEMORY):
        raise UsageError("[memorymanager] you should specify the system reserved memory")


class MemoryState:
    """The state of the machine's memory; each `store` is on disk when it returns."""

    def __init__(self, folder: Path, policy: str, initial: MachineState) -> None:
        """Read the state that an earlier kubelet left; `initial` is that of the machine when containers have nothing.

        Raises:
            UsageError: it was left by another policy, is corrupted, or is that of another machine.
        """
        self._file = CheckpointFile(folder / FILE_NAME, print_for_hash=canonical_json)
        self._policy = policy
        self.machine = initial
        self.assignments: dict[str, dict[str, list[Block]]] = {}
        try:
            content = self._file.read()
            if content is None:
                self.store()
            else:
                self._restore(content, initial)
        except (CheckpointCorrupt, KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(self._advice(str(error))) from error

    def _restore(self, content: Mapping[str, Any], initial: MachineState) -> None:
        if content["policyName"] != self._policy:
            found = f'configured policy "{self._policy}" differs from state checkpoint policy "{content["policyName"]}"'
            raise UsageError(self._advice(found))
        machine = {
            int(node): NumaNodeState(
                state["numberOfAssignments"],
                {kind: MemoryTable(**table) for kind, table in state["memoryMap"].items()},
                list(state["cells"]),
            )
            for node, state in (content.get("machineState") or {}).items()
        }
        if _sizes(machine) != _sizes(initial):
            raise UsageError(self._advice("the expected machine state is different from the real one"))
        self.machine = machine
        self.assignments = {
            uid: {name: [Block(**block) for block in blocks] for name, blocks in containers.items()}
            for uid, containers in (content.get("entries") or {}).items()
        }

    def _advice(self, why: str) -> str:
        advice = "please drain this node and delete the memory manager checkpoint file before restarting Kubelet"
        return f'could not restore state from checkpoint: {why}, {advice}: "{self._file.path}"'

    def blocks(self, uid: str, container: str) -> Sequence[Block]:
        """Return what a container has."""
        return self.assignments.get(uid, {}).get(container, ())

    def store(self) -> None:
        """Write all down."""
        entries = {
            uid: {name: [asdict(block) for block in blocks] for name, blocks in containers.items()}
            for uid, containers in self.assignments.items()
        }
        machine = {str(node): asdict(state) for node, state in self.machine.items()}
        content = {"policyName": self._policy, "machineState": machine}
        self._file.write({**content, **({"entries": entries} if entries else {})})


def _sizes(machine: MachineState) -> dict[int, dict[str, tuple[int, int, int]]]:
    return {
        node: {kind: (table.total, table.systemReserved, table.allocatable) for kind, table in state.memoryMap.items()}
        for node, state in machine.items()
    }
