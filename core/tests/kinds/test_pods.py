import pytest

from hyperkube.kinds.pods import (
    containers,
    containers_with_paths,
    default_requests,
    host_ports,
    host_ports_conflict,
    is_active,
    is_ready,
    is_terminal,
    pod_limits,
    pod_requests,
    priority_of,
)
from hyperkube.kinds.resource_lists import read, write


def container(name="c", requests=None, limits=None, **more):
    return {"name": name, "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def pod(*ordinary, init=(), **spec):
    return {"spec": {"containers": list(ordinary), "initContainers": list(init), **spec}}


def test_all_sorts_of_containers_are_visited():
    subject = pod(container("a"), init=[container("i")], ephemeralContainers=[container("e")])

    assert [item["name"] for item in containers(subject)] == ["i", "a", "e"]
    assert [path for path, _ in containers_with_paths(subject)] == [
        "spec.initContainers[0]",
        "spec.containers[0]",
        "spec.ephemeralContainers[0]",
    ]
    assert list(containers(None)) == []


@pytest.mark.parametrize(
    ("subject", "requests"),
    [
        (pod(container(requests={"cpu": "1"}), container("d", {"cpu": "500m"})), {"cpu": "1500m"}),
        (pod(container(requests={"cpu": "1"}), init=[container("i", {"cpu": "3"})]), {"cpu": "3"}),
        (
            pod(
                container(requests={"cpu": "1"}),
                init=[container("s", {"cpu": "1"}, restartPolicy="Always"), container("i", {"cpu": "3"})],
            ),
            {"cpu": "4"},
        ),
        (
            pod(container(requests={"cpu": "3"}), init=[container("s", {"cpu": "1"}, restartPolicy="Always")]),
            {"cpu": "4"},
        ),
        (pod(container(requests={"cpu": "1"}), overhead={"cpu": "250m"}), {"cpu": "1250m"}),
        (pod(container(requests={"cpu": "1"}), resources={"requests": {"cpu": "2"}}), {"cpu": "2"}),
    ],
)
def test_a_pod_asks_for_its_sum_but_at_least_for_its_start(subject, requests):
    assert write(pod_requests(subject)) == requests


def test_overhead_is_added_to_limits_that_are_set():
    subject = pod(container(limits={"cpu": "1"}), overhead={"cpu": "1", "memory": "1Mi"})

    assert write(pod_limits(subject)) == {"cpu": "2"}


def test_missing_requests_can_be_given_a_least_amount():
    subject = pod(container(requests={"cpu": "1"}), container("d"))

    assert write(pod_requests(subject, non_missing=read({"cpu": "100m"}))) == {"cpu": "1100m"}


def test_phases_and_readiness():
    ended = {"status": {"phase": "Failed"}}
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}

    assert is_terminal(ended)
    assert not is_active(ended)
    assert is_active(ready)
    assert is_ready(ready)
    assert not is_ready({})


def test_host_ports_are_those_that_are_taken():
    subject = pod(container(ports=[{"containerPort": 1}, {"containerPort": 2, "hostPort": 80, "protocol": "UDP"}]))

    assert list(host_ports(subject)) == [("0.0.0.0", "UDP", 80)]


def test_a_host_port_that_only_the_start_needs_is_not_taken():
    ports = [{"containerPort": 1, "hostPort": 80}]
    starting = [container("i", ports=ports), container("s", ports=[{"hostPort": 81}], restartPolicy="Always")]

    assert list(host_ports(pod(container(), init=starting))) == [("0.0.0.0", "TCP", 81)]


@pytest.mark.parametrize(
    ("wanted", "taken", "collide"),
    [
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
        (("0.0.0.0", "TCP", 80), ("10.0.0.2", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "UDP", 80), False),
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "TCP", 81), False),
    ],
)
def test_ports_collide_when_number_protocol_and_address_do(wanted, taken, collide):
    assert host_ports_conflict([wanted], [taken]) is collide
    assert not host_ports_conflict([wanted], [])


@pytest.mark.parametrize(
    ("subject", "priority"), [({}, 0), (pod(), 0), (pod(priority=None), 0), (pod(priority=-5), -5)]
)
def test_a_pod_without_a_priority_has_that_of_zero(subject, priority):
    assert priority_of(subject) == priority


def test_requests_default_to_limits():
    subject = container(requests={"cpu": "1"}, limits={"cpu": "2", "memory": "1Gi"})

    default_requests(subject)

    assert subject["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}


def test_where_nothing_is_limited_nothing_is_requested():
    bare = {"name": "c"}

    default_requests(bare)

    assert bare == {"name": "c"}
