"""What the node says of its runtime, whether it answers or not, and of what it is short of."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hyperkube_host.kubelet.command import COMMAND, options_of
from hyperkube_host.kubelet.nodestatus.machine_info import MachineInfo
from hyperkube_host.kubelet.nodestatus.runtime_state import DOWN_SECONDS, RuntimeState
from hyperkube_host.kubelet.nodestatus.setters import NodeStatus

from hyperkube.hookspecs.runtime import Image, MachineCapacity, RuntimeFailed, RuntimeStatus
from hyperkube.kinds.conditions import condition
from hyperkube.machinery.clock import FakeClock
from hyperkube.plugin.flags import FlagValues

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HANDLERS = ({"name": ""}, {"name": "rro", "features": {"recursive_read_only_mounts": True}})


class Runtime:
    """A runtime that answers as a test says."""

    name = "r"

    def __init__(self, answer=None):
        self.answer = answer or RuntimeStatus(handlers=HANDLERS, features={"supplemental_groups_policy": True})

    def _ask(self, value):
        if self.answer == "down":
            raise RuntimeFailed("connection refused")
        return value

    def status(self):
        return self._ask(self.answer)

    def version(self):
        return self._ask("1")

    def images(self):
        return self._ask([Image(id="i", tags=("t",), size=1)])


class World:
    """A node with such a runtime."""

    def __init__(self, tmp_path, answer=None, unhealthy=""):
        self.clock, self.runtime = FakeClock(), Runtime(answer)
        self.state = RuntimeState(self.runtime, None, self.clock, lambda: unhealthy)
        machine = MachineInfo(MachineCapacity(cores=1, memory=1 << 30, disk=1 << 30), {}, {})
        values = {"root-dir": str(tmp_path), "hostname-override": "n", "container-runtime": "hollow"}
        options = options_of(FlagValues.of(COMMAND.all_flags(), values))
        self.short_of = set()
        self.node = NodeStatus(
            options.node, self.runtime, machine, ["10.0.0.1"], self.state, pressure=lambda: self.short_of
        )
        self.status = {}

    def compute(self):
        self.status = self.node.compute(self.status, NOW)
        return condition(self.status, "Ready")


@pytest.fixture
def world(tmp_path: Path):
    return lambda *args, **more: World(tmp_path, *args, **more)


def test_a_node_tells_what_its_runtime_can_do(world):
    one = world()

    assert one.compute()["status"] == "True"
    assert [(entry["name"], entry["features"]["recursiveReadOnlyMounts"]) for entry in one.status["runtimeHandlers"]] == [
        ("", False), ("rro", True),
    ]  # fmt: skip
    assert one.status["features"] == {"supplementalGroupsPolicy": True}
    assert "RestartAllContainersOnContainerExits" in one.status["declaredFeatures"]
    assert [one.state.supports_recursive_read_only(name) for name in ("", "rro", "other")] == [False, True, False]


@pytest.mark.parametrize(
    ("kind", "fine", "short"),
    [
        ("MemoryPressure", "KubeletHasSufficientMemory", "KubeletHasInsufficientMemory"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "KubeletHasDiskPressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "KubeletHasInsufficientPID"),
    ],
)
def test_a_condition_of_pressure_holds_as_long_as_the_node_is_short(world, kind, fine, short):
    one, told = world(), []

    for pressure in (set(), {kind}, set()):
        one.short_of = pressure
        one.compute()
        found = condition(one.status, kind)
        others = {row["status"] for row in one.status["conditions"] if row["type"] not in {kind, "Ready"}}
        told.append((found["status"], found["reason"], others))

    assert told == [("False", fine, {"False"}), ("True", short, {"False"}), ("False", fine, {"False"})]


def test_a_runtime_that_is_away_for_a_moment_does_not_matter(world):
    one = world()
    one.compute()
    one.runtime.answer = "down"

    assert one.compute()["status"] == "True"
    assert one.status["nodeInfo"]["containerRuntimeVersion"] == "r://1"


def test_a_runtime_that_is_down_makes_the_node_not_ready_and_does_not_stop_its_status(world):
    one = world(unhealthy="pleg was last seen active 3m20s ago; threshold is 3m0s")
    one.compute()
    one.runtime.answer = "down"
    one.clock.advance(DOWN_SECONDS)

    ready = one.compute()

    assert (ready["status"], ready["reason"]) == ("False", "KubeletNotReady")
    assert ready["message"] == (
        "[container runtime is down, PLEG is not healthy: pleg was last seen active 3m20s ago; threshold is 3m0s]"
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("down", "container runtime status check may not have completed yet"),
        (RuntimeStatus(network_problem="no config"), "container runtime network not ready: no config"),
    ],
)
def test_what_is_missing_is_named(world, answer, message):
    assert world(answer).compute()["message"] == message


def test_of_an_image_five_names_are_told(world):
    one = world()
    one.runtime.images = lambda: [Image(id="i", digests=("d1", "d2"), tags=("t1", "t2", "t3", "t4"), size=1)]

    one.compute()

    assert one.status["images"] == [{"names": ["d1", "d2", "t1", "t2", "t3"], "sizeBytes": 1}]


def test_an_image_without_a_size_is_told_as_the_api_keeps_it(world):
    one = world()
    one.runtime.images = lambda: [Image(id="i", tags=("t",), size=1), Image(id="h", tags=("host",))]

    one.compute()

    assert one.status["images"] == [{"names": ["t"], "sizeBytes": 1}, {"names": ["host"]}]
