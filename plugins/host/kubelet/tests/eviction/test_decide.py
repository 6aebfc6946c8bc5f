"""What a round of measurements means."""

import pytest
from hyperkube_host.kubelet.eviction.decide import Memory, Observation, decide
from hyperkube_host.kubelet.thresholds import Amount, Threshold

HARD = Threshold("memory.available", Amount(1000), 0.0, Amount(500))
SOFT = Threshold("memory.available", Amount(2000), 30.0)
DISK = Threshold("nodefs.available", Amount(share=0.1))


class Node:
    """Rounds one after the other."""

    def __init__(self, *thresholds):
        self.thresholds, self.memory = thresholds, Memory()

    def round(self, now, **available):
        signals = {"memory": "memory.available", "disk": "nodefs.available"}
        seen = {signals[name]: Observation(amount, 10_000, now) for name, amount in available.items()}
        found = decide(self.thresholds, seen, self.memory, transition_seconds=300.0, now=now)
        self.memory = found.memory
        return found.conditions, found.due


def test_a_hard_threshold_is_due_at_once():
    assert Node(HARD).round(1.0, memory=999) == ({"MemoryPressure"}, (HARD,))
    assert Node(HARD).round(1.0, memory=1000) == (frozenset(), ())


def test_a_soft_threshold_is_due_after_its_grace():
    node = Node(SOFT)

    assert node.round(1.0, memory=1500) == ({"MemoryPressure"}, ())
    assert node.round(30.0, memory=1500)[1] == ()
    assert node.round(31.0, memory=1500)[1] == (SOFT,)


def test_grace_begins_anew_when_it_was_better_meanwhile():
    node = Node(SOFT)
    for now, memory in ((1.0, 1500), (20.0, 2500), (31.0, 1500)):
        due = node.round(now, memory=memory)[1]

    assert due == ()


def test_a_threshold_is_met_until_there_is_its_minimum_reclaim_more():
    node = Node(HARD)
    node.round(1.0, memory=999)

    assert node.round(11.0, memory=1400)[1] == (HARD,)
    assert node.round(21.0, memory=1500)[1] == ()
    assert node.round(31.0, memory=1400)[1] == ()


def test_a_condition_stays_for_a_while():
    node = Node(HARD)
    node.round(1.0, memory=1)

    assert node.round(300.0, memory=9000)[0] == {"MemoryPressure"}
    assert node.round(301.0, memory=9000)[0] == frozenset()


def test_memory_comes_before_disk():
    assert Node(DISK, HARD).round(1.0, memory=1, disk=1)[1] == (HARD, DISK)


def test_what_was_not_measured_anew_is_not_due_again():
    node = Node(HARD)
    seen = {"memory.available": Observation(1, 10_000, 5.0)}
    first = decide([HARD], seen, node.memory, transition_seconds=300.0, now=10.0)
    second = decide([HARD], seen, first.memory, transition_seconds=300.0, now=20.0)

    assert (first.due, second.due) == ((HARD,), ())
    assert second.conditions == {"MemoryPressure"}


@pytest.mark.parametrize("available", [{}, {"disk": 5000}])
def test_what_cannot_be_measured_is_not_met(available):
    assert Node(HARD).round(1.0, **available) == (frozenset(), ())
