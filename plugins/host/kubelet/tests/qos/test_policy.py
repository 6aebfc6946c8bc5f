"""The OOM scores of upstream's table (``pkg/kubelet/qos/policy_test.go``), on a node of 4,000,000,000 bytes."""

import pytest
from hyperkube_host.kubelet.qos.policy import container_oom_score_adjust

MEMORY = 4_000_000_000


def pod(*containers, inits=(), priority=0, resources=None):
    spec = {"containers": list(containers), "initContainers": list(inits), "priority": priority}
    return {"metadata": {"name": "p"}, "spec": spec | ({"resources": resources} if resources else {})}


def container(name="c", requests=None, limits=None, **more):
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    return {"name": name, "resources": resources, **more}


def test_a_container_of_best_effort_goes_first():
    assert container_oom_score_adjust(pod(container()), container(), MEMORY) == 1000


def test_a_guaranteed_container_goes_last():
    same = {"cpu": "5m", "memory": "10G"}
    own = container(requests=same, limits=same)

    assert container_oom_score_adjust(pod(own), own, MEMORY) == -997


def test_a_node_critical_pod_goes_last_whatever_it_asks_for():
    assert container_oom_score_adjust(pod(container(), priority=2_000_001_000), container(), MEMORY) == -997


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param({"memory": str(MEMORY // 2)}, 500, id="half-of-the-memory"),
        pytest.param({"memory": str(MEMORY - 1)}, 3, id="nearly-all-of-it"),
        pytest.param({"memory": str(2 * MEMORY)}, 3, id="more-than-there-is"),
        pytest.param({"cpu": "1m"}, 999, id="no-memory-at-all"),
    ],
)
def test_a_burstable_container_goes_by_its_share_of_the_memory(requests, expected):
    own = container(requests=requests)

    assert container_oom_score_adjust(pod(own), own, MEMORY) == expected


def test_a_sidecar_does_not_go_before_the_regular_containers():
    main = container("main", requests={"memory": "1000000000"})
    sidecar = container("proxy", requests={"memory": "100000000"}, restartPolicy="Always")

    assert container_oom_score_adjust(pod(main, inits=[sidecar]), sidecar, MEMORY) == 750


def test_what_only_the_pod_asks_for_is_shared_by_its_containers():
    whole = {"requests": {"memory": "2000000000"}}
    one, other = container("one", requests={"memory": "1000000000"}), container("other")
    both = pod(one, other, resources=whole)

    assert [container_oom_score_adjust(both, each, MEMORY) for each in (one, other)] == [625, 875]
