"""Which ended containers are removed."""

import tracemalloc

import pytest
from hyperkube_host.kubelet.container.pod_status import get_pod_statuses
from hyperkube_host.kubelet.kuberuntime.container_gc import ContainerGC, ContainerGCPolicy, containers_to_remove
from hyperkube_host.kubelet.pleg.generic import GenericPleg

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, RuntimeFailed, SandboxStatus
from hyperkube.machinery.clock import FakeClock


def unit(name, *states):
    """Return the containers of a name, newest first; each is ten seconds older than the one before."""
    return [
        ContainerStatus(
            id=f"{name}{number}",
            sandbox_id="s",
            name=name,
            attempt=0,
            state=ContainerState.RUNNING if state == "R" else ContainerState.EXITED,
            image="i",
            created_at=1000.0 - 10 * number,
        )
        for number, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("units", "policy", "removed"),
    [
        pytest.param([unit("a", "R", "E", "E")], ContainerGCPolicy(), ["a2"], id="one-beside-a-running-one"),
        pytest.param([unit("a", "E", "E", "E")], ContainerGCPolicy(), ["a2"], id="the-newest-shows-the-state"),
        pytest.param([unit("a", "R", "E")], ContainerGCPolicy(max_per_pod_container=0), [], id="at-least-one"),
        pytest.param([unit("a", "R")], ContainerGCPolicy(), [], id="none-ended"),
        pytest.param([unit("a", "R", "E", "E", "E")], ContainerGCPolicy(min_age_seconds=80.0), ["a3"], id="old-enough"),
        pytest.param(
            [unit("a", "R", "E", "E"), unit("b", "R", "E", "E")],
            ContainerGCPolicy(max_per_pod_container=2, max_containers=2),
            ["a2", "b2"],
            id="each-keeps-its-share",
        ),
        pytest.param(
            [unit("a", "R", "E"), unit("b", "R", "E"), unit("c", "R", "E")],
            ContainerGCPolicy(max_containers=0),
            ["a1", "b1", "c1"],
            id="none-in-all",
        ),
    ],
)
def test_what_is_removed(units, policy, removed):
    found = containers_to_remove(units, policy, 1065.0)

    assert sorted(status.id for status in found) == removed


PODS, ENDED_OF_EACH = 100, 100


class FullRuntime:
    """A hundred pods, each with a container that has ended a hundred times."""

    def __init__(self):
        self.there = {
            f"{pod}-{attempt}": ContainerStatus(
                id=f"{pod}-{attempt}",
                sandbox_id=f"s{pod}",
                name="c",
                attempt=attempt,
                state=ContainerState.EXITED,
                image="i",
                created_at=float(attempt),
                log_path="",
            )
            for pod in range(PODS)
            for attempt in range(ENDED_OF_EACH)
        }
        self.stuck = set()

    def sandboxes(self):
        return [
            SandboxStatus(
                id=f"s{pod}", namespace="n", name=f"p{pod}", uid=f"u{pod}", attempt=0, ready=True, created_at=0.0
            )
            for pod in range(PODS)
        ]

    def containers(self):
        return list(self.there.values())

    def container(self, container_id):
        return self.there[container_id]

    def remove_container(self, container_id):
        if container_id in self.stuck:
            raise RuntimeFailed("busy")
        del self.there[container_id]


@pytest.mark.slow
def test_ten_thousand_dead_containers_are_looked_at_again_and_again_in_the_same_memory():
    pleg = GenericPleg(FullRuntime(), FakeClock(), lambda _uid: None)
    pleg.relist()
    tracemalloc.start()
    try:
        pleg.relist()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(2):
            pleg.relist()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before < 64 * 1024


def test_of_ten_thousand_dead_containers_two_of_each_are_left_and_one_that_is_stuck_holds_up_none():
    runtime = FullRuntime()
    runtime.stuck = {"7-0"}
    collector = ContainerGC(ContainerGCPolicy(), runtime, FakeClock())

    collector.collect(get_pod_statuses(runtime))

    kept = {f"{pod}-{attempt}" for pod in range(PODS) for attempt in (ENDED_OF_EACH - 1, ENDED_OF_EACH - 2)}
    assert runtime.there.keys() == kept | {"7-0"}
