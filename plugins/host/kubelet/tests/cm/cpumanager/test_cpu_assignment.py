"""Which CPUs are chosen: upstream's tables (``pkg/kubelet/cm/cpumanager/cpu_assignment_test.go``)."""

import pytest
from hyperkube_host.kubelet.cm.cpumanager.cpu_assignment import (
    CpusNotAvailable,
    SortingStrategy,
    take_by_topology_numa_packed,
)
from hyperkube_host.kubelet.cm.cpumanager.cpu_distribution import take_by_topology_numa_distributed
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import parse_cpu_set

COMMON = [
    pytest.param("single-socket-ht", "0-7", 0, "", id="nothing"),
    pytest.param("single-socket-ht", "0-7", 1, "0", id="one"),
    pytest.param("single-socket-ht", "1,3,5,6,7", 1, "6", id="the-rest-of-a-core-in-use"),
    pytest.param("single-socket-ht", "0-7", 2, "0,4", id="a-core"),
    pytest.param("single-socket-ht", "0-7", 8, "0-7", id="all"),
    pytest.param("single-socket-ht", "0,1,2,3,6", 2, "2,6", id="the-only-free-core"),
    pytest.param("dual-socket-ht", "0-11", 6, "0,2,4,6,8,10", id="a-socket"),
    pytest.param("multi-numa-ht", "0-79", 40, "0-19,40-59", id="a-socket-of-two-nodes"),
    pytest.param("multi-numa-ht", "0-79", 20, "0-9,40-49", id="a-node"),
    pytest.param("multi-numa-ht", "10-39,50-79", 20, "10-19,50-59", id="the-next-node"),
]


@pytest.mark.parametrize(
    ("topology", "available", "count", "expected"),
    [
        *COMMON,
        pytest.param("dual-socket-ht", "1-5,7-11", 1, "2", id="a-thread-of-the-scarcer-socket"),
        pytest.param("dual-socket-ht", "0-11", 8, "0,6,2,8,4,10,1,7", id="a-socket-and-a-core"),
        pytest.param("multi-numa-ht", "0-79", 64, "0-29,40-69,30,31,70,71", id="three-nodes-and-some"),
    ],
)
def test_packed_fills_whole_parts_first(machines, topology, available, count, expected):
    assert take_by_topology_numa_packed(machines[topology], parse_cpu_set(available), count) == parse_cpu_set(expected)


@pytest.mark.parametrize(
    ("topology", "available", "count", "expected"),
    [
        pytest.param("uncore-no-smt", "1-15", 10, "1,2,4-11", id="two-caches-and-a-part"),
        pytest.param("uncore-dual-socket", "0-15", 4, "0-3", id="the-first-cache"),
        pytest.param("uncore-dual-socket", "2-15", 6, "2-7", id="all-of-a-socket"),
        pytest.param("uncore-dual-socket", "8-15", 4, "8-11", id="the-second-socket"),
        pytest.param("uncore-smt", "2-3,10-11,4-7,12-15", 6, "4,5,6,12,13,14", id="one-cache-of-two"),
        pytest.param("uncore-smt", "1-7,9-15", 10, "4-7,12-15,1,9", id="a-cache-and-a-core"),
    ],
)
def test_caches_are_kept_together_when_that_is_preferred(machines, topology, available, count, expected):
    taken = take_by_topology_numa_packed(machines[topology], parse_cpu_set(available), count, prefer_uncore_cache=True)

    assert taken == parse_cpu_set(expected)


@pytest.mark.parametrize(
    ("topology", "available", "count", "expected"),
    [
        pytest.param("single-socket-ht", "0-7", 3, "0,1,2", id="three-cores"),
        pytest.param("dual-socket-ht", "0-11", 3, "0,2,4", id="of-one-socket"),
        pytest.param("dual-socket-ht", "0-11", 6, "0,2,4,6,8,10", id="a-socket-is-taken-whole"),
        pytest.param("dual-socket-ht", "0-11", 8, "0,2,4,6,8,10,1,3", id="and-then-cores-of-the-other"),
        pytest.param("dual-socket-no-ht", "0-7", 2, "0,1", id="without-threads"),
        pytest.param("multi-numa-ht", "0-79", 8, "0-7", id="of-one-node"),
    ],
)
def test_spread_takes_a_thread_of_each_core(machines, topology, available, count, expected):
    taken = take_by_topology_numa_packed(machines[topology], parse_cpu_set(available), count, SortingStrategy.SPREAD)

    assert taken == parse_cpu_set(expected)


M, LARGE = "multi-numa-ht", "multi-numa-ht-large"
HOLES = "0-8,10-18,20-39,40-48,50-58,60-79"


@pytest.mark.parametrize(
    ("topology", "available", "count", "group", "expected"),
    [
        *(pytest.param(*case.values[:3], 1, case.values[3], id=case.id) for case in COMMON),
        pytest.param("dual-socket-ht", "0-11", 8, 1, "0,6,2,8,1,7,3,9", id="two-cores-of-each-socket"),
        pytest.param(M, "0-79", 64, 1, "0-7,10-17,20-27,30-37,40-47,50-57,60-67,70-77", id="eight-cores-of-four"),
        pytest.param(M, "0-79", 48, 1, "0-7,10-17,20-27,40-47,50-57,60-67", id="eight-cores-of-three"),
        pytest.param(M, "1-29,32-39,41-69,72-79", 48, 1, "1-8,10-17,20-27,41-48,50-57,60-67", id="around-holes"),
        pytest.param(M, "2-29,31-39,42-69,71-79", 48, 1, "10-17,20-27,31-38,50-57,60-67,71-78", id="for-balance"),
        pytest.param("dual-socket-ht", "1-5,7-11", 1, 1, "1", id="one-where-there-are-more"),
        pytest.param("dual-socket-ht", "1-5,7-11", 1, 2, "2", id="no-group-so-packed"),
        pytest.param(M, "0-79", 26, 1, "0-6,10-16,40-45,50-55", id="thirteen-cores-of-two"),
        pytest.param(M, "0-79", 26, 2, "0-6,10-15,40-46,50-55", id="in-groups-of-two"),
        pytest.param(M, "0-79", 62, 1, "0-7,10-17,20-27,30-37,40-47,50-57,60-66,70-76", id="a-remainder"),
        pytest.param(M, "0-79", 62, 2, "0-7,10-17,20-27,30-36,40-47,50-57,60-67,70-76", id="of-groups"),
        pytest.param(M, HOLES, 62, 1, "0-7,10-17,20-27,30-37,40-46,50-56,60-67,70-77", id="remainder-for-balance"),
        pytest.param(M, HOLES, 62, 2, "0-7,10-16,20-27,30-37,40-47,50-56,60-67,70-77", id="groups-for-balance"),
        pytest.param(
            M,
            "0-3,10-13,20-23,30-36,40-43,50-53,60-63,70-76",
            34,
            1,
            "0-3,10-13,20-23,30-34,40-43,50-53,60-63,70-74",
            id="remainder-from-who-has-it",
        ),
        pytest.param(
            LARGE,
            "0,128,30,31,158,159,43-47,171-175,62,63,190,191,75-79,203-207,94,96,222,223,101-111,229-239,126,127,254,255",
            28,
            1,
            "43-47,75-79,96,101-105,171-174,203-206,229-232",
            id="a-fragmented-machine",
        ),
    ],
)
def test_distributed_takes_even_shares_of_the_nodes(machines, topology, available, count, group, expected):
    taken = take_by_topology_numa_distributed(machines[topology], parse_cpu_set(available), count, group)

    assert taken == parse_cpu_set(expected)


@pytest.mark.parametrize("take", [take_by_topology_numa_packed, take_by_topology_numa_distributed])
def test_too_few_cpus_are_told_with_both_numbers(machines, take):
    with pytest.raises(CpusNotAvailable, match=r"^not enough cpus available .*: requested=5, available=4$"):
        take(machines["single-socket-ht"], parse_cpu_set("0,2,4,6"), 5)
