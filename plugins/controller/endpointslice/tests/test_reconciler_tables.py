"""The reconciler's tables: which slices are written, and how many endpoints each has then.

Source of the cases: kubernetes ``staging/src/k8s.io/endpointslice/reconciler_test.go``, ``utils_test.go``.
"""

from collections import Counter

import pytest
from hyperkube_controller.endpointslice.reconciler import CONTROLLER, Observed, families_of, plan_slices, slice_labels
from hyperkube_lib.endpoints import HEADLESS, MANAGED_BY, SERVICE_NAME, EndpointPod

from hyperkube.client.actions import Create, Delete, Update

NODE = {"kind": "Node", "metadata": {"name": "node-1"}}
PORTS = [{"name": "foo", "port": 80, "protocol": "TCP"}]
OWN = {MANAGED_BY: CONTROLLER, SERVICE_NAME: "foo"}


def service(labels=None, **spec):
    meta = {"name": "foo", "namespace": "test", "uid": "test-foo", "labels": labels or {}}
    ports = [{"name": "foo", "port": 80, "targetPort": 80, "protocol": "TCP"}]
    base = {"selector": {"foo": "bar"}, "clusterIP": "10.0.0.10", "ipFamilies": ["IPv4"], "ports": ports}
    return {"kind": "Service", "apiVersion": "v1", "metadata": meta, "spec": base | spec}


def pod(number, *, ready=True, node="node-1", ips=None, **meta):
    status = {"phase": "Running", "podIPs": [{"ip": ip} for ip in ips or [f"1.2.{number // 250}.{4 + number % 250}"]]}
    status["conditions"] = [{"type": "Ready", "status": "True" if ready else "False"}]
    labels = {"foo": "bar"}
    return {
        "kind": "Pod",
        "metadata": {"name": f"pod{number}", "namespace": "test", "uid": f"u{number}", "labels": labels, **meta},
        "spec": {"nodeName": node, "containers": [{"name": "container-1"}]},
        "status": status,
    }


def pods(*numbers):
    """Return pods, each third of which is not ready."""
    return [pod(number, ready=number % 3 != 0) for number in numbers]


def entries(*those, of=None):
    """Return the endpoints that the controller makes of the pods."""
    (plan,) = observe(those, of=of)
    return [entry for made in plan.create for entry in made["endpoints"]]


def observe(those, slices=(), *, of=None, limit=1000, nodes=("node-1",)):
    found = [*map(EndpointPod, those)]
    return plan_slices(Observed(of or service(), found, lambda name: NODE if name in nodes else None, slices, limit))


def slice_of(number, endpoints, *, ports=PORTS, labels=OWN, uid="test-foo", family="IPv4"):
    owner = {"apiVersion": "v1", "kind": "Service", "name": "foo", "uid": uid, "controller": True}
    meta = {"name": f"foo-{number}", "namespace": "test", "labels": labels, "ownerReferences": [owner]}
    return {"metadata": meta, "addressType": family, "ports": ports, "endpoints": endpoints}


def outcome(those, slices=(), *, of=None, limit=100, nodes=("node-1",)):
    """Return how many writes of each kind there are and, in falling order, how many endpoints slices have then."""
    of = of or service()
    plans = observe(those, slices, of=of, limit=limit, nodes=nodes)
    actions = [action for plan in plans for action in plan.actions(of)]
    after = {each["metadata"]["name"]: each for each in slices}
    for action in actions:
        if isinstance(action, Delete):
            del after[action.name]
        else:
            after[action.object["metadata"].get("name", object())] = action.object
    kinds = Counter(type(action) for action in actions)
    sizes = sorted((len(each["endpoints"]) for each in after.values()), reverse=True)
    return (kinds[Create], kinds[Update], kinds[Delete]), sizes


def counted(those, slices=(), **more):
    """Return how many endpoints came and went."""
    (plan,) = observe(those, slices, limit=100, **more)
    return plan.added, plan.removed


def quarters(count):
    """Return `count` pods, and two slices that have a quarter of them each."""
    all_of_them = pods(*range(count))
    return all_of_them, [
        slice_of(1, entries(*all_of_them[1 : count - 4 : 4])),
        slice_of(2, entries(*all_of_them[3 : count - 4 : 4])),
    ]


def test_a_service_without_pods_gets_a_placeholder():
    (plan,) = observe([])

    (made,) = plan.create
    assert (made["ports"], made["endpoints"], made["metadata"]["labels"]) == ([], [], OWN)
    assert plan.sizes == [(0, 1)]


@pytest.mark.parametrize(
    ("present", "writes"),
    [([], (1, 0, 0)), ([slice_of(1, [], ports=[])], (0, 0, 0)), ([slice_of(1, [], labels={"bar": "baz"})], (0, 1, 0))],
    ids=["none", "the-same", "another"],
)
def test_there_is_one_placeholder(present, writes):
    assert outcome([], present) == (writes, [0])


@pytest.mark.parametrize(
    ("limit", "sizes"),
    [(50, [50] * 5), (80, [80, 80, 80, 10]), (100, [100, 100, 50]), (150, [150, 100]), (250, [250]), (500, [250])],
)
def test_new_slices_are_filled_up(limit, sizes):
    assert outcome(pods(*range(250)), limit=limit) == ((len(sizes), 0, 0), sizes)


def test_what_is_left_over_goes_where_it_makes_a_slice_fullest():
    assert outcome(*quarters(250)) == ((1, 1, 0), [100, 89, 61])
    assert counted(*quarters(250)) == (127, 0)


def test_what_fits_no_slice_gets_a_new_one():
    assert outcome(*quarters(300)) == ((2, 0, 0), [100, 74, 74, 52])


def test_other_ports_overwrite_the_slices():
    there = pods(*range(250))
    slices = [slice_of(number, entries(*there[number * 100 : number * 100 + 100])) for number in range(3)]
    changed = service(ports=[{"name": "foo", "port": 80, "targetPort": 81, "protocol": "TCP"}])

    assert outcome(there, slices, of=changed) == ((0, 3, 0), [100, 100, 50])


@pytest.mark.parametrize(
    ("labels", "updates"),
    [({"foo": "bar"}, 3), ({SERVICE_NAME: "bad", MANAGED_BY: "actor", HEADLESS: "invalid"}, 0)],
    ids=["own", "reserved"],
)
def test_labels_of_the_service_but_the_reserved_ones_are_written(labels, updates):
    there = pods(*range(250))
    slices = [slice_of(number, entries(*there[number * 100 : number * 100 + 100])) for number in range(3)]

    assert outcome(there, slices, of=service(labels)) == ((0, updates, 0), [100, 100, 50])


def test_slices_with_room_are_packed_only_when_all_change_anyway():
    there = pods(*range(300))
    slices = [slice_of(number, entries(*there[number * 30 : number * 30 + 30])) for number in range(10)]
    changed = service(ports=[{"name": "foo", "port": 80, "targetPort": 81, "protocol": "TCP"}])

    assert outcome(there, slices) == ((0, 0, 0), [30] * 10)
    assert outcome(there, slices, of=changed) == ((0, 3, 7), [100, 100, 100])
    assert counted(there, slices, of=changed) == (300, 0)


def test_slices_that_change_are_filled_the_fullest_first():
    before = [slice_of(1, entries(*map(pod, range(80)))), slice_of(2, entries(*map(pod, range(100, 120))))]
    numbers = [*range(80), *range(100, 120)]
    changed = [pod(number, ready=place % 10 != 0) for place, number in enumerate(numbers)]

    assert outcome([*changed, *map(pod, range(200, 215))], before) == ((0, 2, 0), [95, 20])


def test_slices_of_a_deprecated_address_type_are_replaced():
    there = [pod(number) for number in [*range(80), *range(100, 150)]]
    slices = [slice_of(1, entries(*there[:80]), family="IP"), slice_of(2, entries(*there[80:]), family="IP")]

    assert outcome(there, slices) == ((2, 0, 2), [100, 30])


@pytest.mark.parametrize(("uid", "writes"), [("test-foo", (0, 0, 0)), ("different", (1, 0, 1))])
def test_slices_of_an_earlier_service_are_not_taken_over(uid, writes):
    assert outcome([pod(1)], [slice_of(1, entries(pod(1)), uid=uid)]) == (writes, [1])


def test_each_number_of_a_named_port_has_a_slice():
    named = service(ports=[{"targetPort": "http", "protocol": "TCP"}])
    there = pods(*range(300))
    for number, each in enumerate(there):
        each["spec"]["containers"][0]["ports"] = [
            {"name": "http", "containerPort": 8080 + number % 5, "protocol": "TCP"}
        ]

    (plan,) = observe(there, of=named, limit=100)

    assert outcome(there, of=named) == ((5, 0, 0), [60] * 5)
    assert sorted(made["ports"][0]["port"] for made in plan.create) == [8080, 8081, 8082, 8083, 8084]


@pytest.mark.parametrize(
    ("publishes", "nodes", "present", "writes", "added", "removed", "skipped"),
    [
        (False, ["node-0"], False, (1, 0, 0), 1, 0, 1),
        (True, ["node-0"], False, (1, 0, 0), 2, 0, 0),
        (False, ["node-0"], True, (0, 1, 0), 0, 1, 1),
        (True, [], True, (0, 0, 0), 0, 0, 0),
        (True, ["node-0"], True, (0, 0, 0), 0, 0, 0),
        (False, [], True, (0, 1, 0), 0, 2, 2),
    ],
    ids=["create", "create-all", "update", "update-all-of-no-node", "update-all", "update-of-no-node"],
)
def test_pods_of_missing_nodes_are_left_out(publishes, nodes, present, writes, added, removed, skipped):
    there = [pod(0, node="node-0"), pod(1, node="node-1")]
    slices = [slice_of(1, entries(*there, of=service(publishNotReadyAddresses=True)))] if present else []
    of = service(publishNotReadyAddresses=publishes)

    (plan,) = observe(there, slices, of=of, nodes=nodes)

    assert outcome(there, slices, of=of, nodes=nodes)[0] == writes
    assert (plan.added, plan.removed, len(plan.skipped)) == (added, removed, skipped)


@pytest.mark.parametrize(
    ("made", "publishes", "conditions"),
    [
        ({}, False, (True, True, False)),
        ({}, True, (True, True, False)),
        ({"ready": False}, False, (False, False, False)),
        ({"ready": False}, True, (True, False, False)),
        ({"deletionTimestamp": "2030-01-01T00:00:00Z"}, False, (False, True, True)),
        ({"ready": False, "deletionTimestamp": "2030-01-01T00:00:00Z"}, False, (False, False, True)),
    ],
)
def test_conditions_of_an_endpoint(made, publishes, conditions):
    (entry,) = entries(pod(1, **made), of=service(publishNotReadyAddresses=publishes))

    assert tuple(entry["conditions"].values()) == conditions


def test_an_endpoint_lists_all_addresses_of_its_type_as_go_writes_them():
    several = pod(1, ips=["1.2.3.9", "1234::5678:0000:0000:9abc:def0", "1.2.3.4", "::ffff:10.0.0.1"])

    four, six = observe([several], of=service(ipFamilies=["IPv4", "IPv6"]))

    assert four.create[0]["endpoints"][0]["addresses"] == ["1.2.3.4", "1.2.3.9", "10.0.0.1"]
    assert six.create[0]["endpoints"][0]["addresses"] == ["1234::5678:0:0:9abc:def0"]


def test_a_pod_made_again_under_its_name_and_address_is_the_same_endpoint():
    slices = [slice_of(1, entries(pod(1), pod(2)))]

    (plan,) = observe([pod(1, uid="again"), pod(2)], slices)

    assert [entry["targetRef"]["uid"] for entry in plan.update[0]["endpoints"]] == ["again", "u2"]
    assert (plan.added, plan.removed) == (0, 0)


def test_a_resource_version_in_a_reference_is_no_difference():
    (entry,) = entries(pod(1))
    old = {**entry, "targetRef": entry["targetRef"] | {"resourceVersion": "7"}}

    assert outcome([pod(1)], [slice_of(1, [old])]) == ((0, 0, 0), [1])


@pytest.mark.parametrize(
    ("spec", "families"),
    [
        ({"clusterIP": "10.0.0.10", "ipFamilies": None}, ["IPv4"]),
        ({"clusterIP": "2000::1", "ipFamilies": None}, ["IPv6"]),
        ({"ipFamilies": ["IPv6"]}, ["IPv6"]),
        ({"ipFamilies": ["IPv6", "IPv4"]}, ["IPv6", "IPv4"]),
        ({"clusterIP": "None", "ipFamilies": None}, ["IPv4", "IPv6"]),
        ({"clusterIP": "None", "ipFamilies": None, "selector": None}, ["IPv4", "IPv6"]),
        ({"clusterIP": "None", "ipFamilies": ["IPv4", "IPv6"]}, ["IPv4", "IPv6"]),
    ],
)
def test_address_types_of_a_service(spec, families):
    assert families_of(service(**spec)) == families


@pytest.mark.parametrize(
    ("labels", "cluster_ip", "expected"),
    [
        ({}, "1.1.1.1", {}),
        ({"foo": "bar", "foo2": "bar2"}, "1.1.1.1", {"foo": "bar", "foo2": "bar2"}),
        ({"foo": "bar"}, "None", {"foo": "bar", HEADLESS: ""}),
        ({}, "None", {HEADLESS: ""}),
        ({}, "", {HEADLESS: ""}),
        ({HEADLESS: ""}, "1.1.1.1", {}),
        ({SERVICE_NAME: "bad", MANAGED_BY: "actor", "foo": "bar"}, "1.1.1.1", {"foo": "bar"}),
    ],
)
def test_labels_of_slices(labels, cluster_ip, expected):
    assert slice_labels(service(labels, clusterIP=cluster_ip)) == expected | OWN


@pytest.mark.parametrize(
    ("spec", "labels", "ports"),
    [({"ports": []}, {}, []), ({}, {"service.kubernetes.io/headless": ""}, PORTS)],
    ids=["no-ports", "ports"],
)
def test_a_headless_service_may_have_no_ports(spec, labels, ports):
    (plan,) = observe([pod(1)], of=service(clusterIP="None", **spec))

    assert plan.create[0]["ports"] == ports
    assert labels.items() <= plan.create[0]["metadata"]["labels"].items()


def test_ports_keep_their_application_protocol():
    ports = [
        {"name": "http", "port": 80, "targetPort": 80, "protocol": "TCP", "appProtocol": "example.com/custom-protocol"},
        {"name": "https", "port": 443, "targetPort": "https", "protocol": "TCP", "appProtocol": "https"},
    ]
    one = pod(1)
    one["spec"]["containers"][0]["ports"] = [{"name": "https", "containerPort": 443, "protocol": "TCP"}]

    (plan,) = observe([one], of=service(ports=ports))

    assert plan.create[0]["ports"] == [
        {"name": "http", "port": 80, "protocol": "TCP", "appProtocol": "example.com/custom-protocol"},
        {"name": "https", "port": 443, "protocol": "TCP", "appProtocol": "https"},
    ]
