"""What MemoryQoS writes into the cgroup of a container."""

import pytest
from hyperkube_host.kubelet.cm.memory_qos import MemoryQos, memory_qos_files, with_files

MI = 1 << 20


def files(requests="", limits="", *, enabled=True, factor=0.9):
    resources = {kind: {"memory": amount} for kind, amount in (("requests", requests), ("limits", limits)) if amount}
    settings = MemoryQos(enabled=enabled, throttling_factor=factor, allocatable=2100 * MI)
    return memory_qos_files({"name": "c", "resources": resources}, settings)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"requests": "100Mi", "limits": "1100Mi"}, {"memory.min": 100 * MI, "memory.high": 1000 * MI}),
        ({"requests": "100Mi", "limits": "1100Mi", "factor": 0.5}, {"memory.min": 100 * MI, "memory.high": 600 * MI}),
        ({"requests": "100Mi"}, {"memory.min": 100 * MI, "memory.high": 1900 * MI}),
        ({"requests": "100Mi", "limits": "100Mi"}, {"memory.min": 100 * MI}),
        ({"limits": "100Mi"}, {"memory.high": 90 * MI}),
        ({}, {}),
        ({"requests": "100Mi", "limits": "1100Mi", "enabled": False}, {}),
    ],
    ids=["burstable", "another factor", "no limit", "guaranteed", "limit alone", "best effort", "gate off"],
)
def test_memory_is_kept_up_to_the_request_and_throttled_before_the_limit(given, written):
    assert files(**given) == {name: str(amount) for name, amount in written.items()}


def test_files_go_beside_those_of_swap():
    swap = {"unified": {"memory.swap.max": "0"}}

    assert with_files(swap, {"memory.min": "1"}) == {"unified": {"memory.swap.max": "0", "memory.min": "1"}}
    assert with_files(swap, {}) is swap
    assert with_files({}, {"memory.min": "1"}) == {"unified": {"memory.min": "1"}}
