"""Who makes room for a critical pod: as few pods as possible, of as little importance as possible."""

import pytest
from hyperkube_host.kubelet.preemption.preemption import is_preemptable, victims

CRITICAL = 2_000_000_000


def pod(name, cpu=0, memory=0, *, limits=False, priority=0):
    requests = {"cpu": f"{cpu}m", "memory": str(memory)} if cpu or memory else {}
    resources = {"requests": requests} | ({"limits": requests} if limits else {})
    spec = {"containers": [{"name": "c", "resources": resources}], "priority": priority}
    return {"metadata": {"name": name, "uid": name}, "spec": spec}


VIP = pod("vip", 100, priority=CRITICAL)
BEST_EFFORT = pod("best-effort")
SMALL = pod("small", 100, 100)
BIG = pod("big", 500, 500)
GUARANTEED = pod("guaranteed", 300, 300, limits=True)
ALL = [BEST_EFFORT, SMALL, BIG, GUARANTEED]


def chosen(missing, pods=ALL):
    found = victims(VIP, pods, missing)
    return None if found is None else [one["metadata"]["name"] for one in found]


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ({}, []),
        ({"pods": 1}, ["best-effort"]),
        ({"cpu": 100}, ["small"]),
        ({"cpu": 101}, ["big"]),
        ({"cpu": 501}, ["big", "small"]),
        ({"cpu": 700}, ["big", "guaranteed"]),
        ({"cpu": 1000}, None),
    ],
    ids=["nothing", "a place", "just enough", "the one that is enough", "two", "the important one last", "too much"],
)
def test_the_least_that_is_enough_goes(missing, names):
    assert (chosen(missing) or None) == (names or None)


def test_a_pod_that_is_critical_itself_stays():
    other = pod("other", 100, priority=CRITICAL)

    assert chosen({"cpu": 100}, [other]) is None


def test_a_critical_pod_of_higher_priority_takes_the_place_of_another():
    assert is_preemptable(pod("vip", priority=CRITICAL + 1000), pod("other", priority=CRITICAL))


def test_pods_of_equal_priority_leave_each_other_alone():
    assert not is_preemptable(pod("one", priority=5), pod("other", priority=5))
