"""Which ended containers are removed."""

import pytest
from hyperkube_host.kubelet.kuberuntime.container_gc import ContainerGCPolicy, containers_to_remove

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus


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
