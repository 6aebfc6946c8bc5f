"""What single objects use of a quota, case by case.

Source of the cases: kubernetes ``pkg/quota/v1/evaluator/core`` (``pods_test.go``, ``services_test.go``,
``persistent_volume_claims_test.go``, ``resource_claims_test.go``).
"""

from datetime import UTC, datetime

import pytest
from hyperkube_lib.quota import in_scope, relevant, usage

from hyperkube.kinds.resource_lists import write
from hyperkube.machinery.groups import GroupResource

NOW = datetime(2030, 1, 1, tzinfo=UTC)
PODS, SERVICES, CLAIMS = (GroupResource("", name) for name in ("pods", "services", "persistentvolumeclaims"))
RESOURCE_CLAIMS = GroupResource("resource.k8s.io", "resourceclaims")
COUNT = {"count/pods": "1"}
RUNS = {**COUNT, "pods": "1"}


def container(requests=None, limits=None, **more):
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {"name": "c", "resources": {key: value for key, value in resources.items() if value}, **more}


def pod(*containers, init=(), status=None, meta=None, **spec):
    found = {"spec": {"containers": [*containers], "initContainers": [*init], **spec}, "status": status or {}}
    return {**found, "metadata": meta or {}}


def cpu(request, limit):
    return {"cpu": request, "requests.cpu": request, "limits.cpu": limit}


def memory(request, limit):
    return {"memory": request, "requests.memory": request, "limits.memory": limit}


def disk(request, limit):
    name = "ephemeral-storage"
    return {name: request, f"requests.{name}": request, f"limits.{name}": limit}


ONE = [
    ({"cpu": "1m"}, {"cpu": "2m"}, cpu("1m", "2m")),
    ({"memory": "1m"}, {"memory": "2m"}, memory("1m", "2m")),
    ({"ephemeral-storage": "32Mi"}, {"ephemeral-storage": "64Mi"}, disk("32Mi", "64Mi")),
    ({"hugepages-2Mi": "100Mi"}, {}, {"hugepages-2Mi": "100Mi", "requests.hugepages-2Mi": "100Mi"}),
    ({"example.com/dongle": "3"}, {"example.com/dongle": "3"}, {"requests.example.com/dongle": "3"}),
    (
        {"deviceclass.resource.kubernetes.io/dongle": "3"},
        {"deviceclass.resource.kubernetes.io/dongle": "3"},
        {"requests.deviceclass.resource.kubernetes.io/dongle": "3"},
    ),
]


@pytest.mark.parametrize("where", ["container", "init container"])
@pytest.mark.parametrize(("requests", "limits", "used"), ONE)
def test_a_container_uses_what_it_asks_for(where, requests, limits, used):
    one = container(requests, limits)
    given = pod(one) if where == "container" else pod(init=[one])

    found = write(usage(PODS, given, NOW))

    assert found == {**RUNS, **used}
    assert set(relevant(PODS, found)) == set(found)


def dongles(cpus, memories, count):
    return {"cpu": cpus, "memory": memories, "example.com/dongle": count}


def deleted(seconds_ago):
    since = f"2029-12-31T23:59:{60 - seconds_ago:02}Z" if seconds_ago else "2030-01-01T00:00:00Z"
    return {"deletionTimestamp": since, "deletionGracePeriodSeconds": 30}


WHOLE = {
    "what ended is still an object": (
        pod(container({"example.com/dongle": "3"}), status={"phase": "Succeeded"}),
        COUNT,
    ),
    "the largest step of the start outweighs what runs": (
        pod(
            container(dongles("1", "50M", "1"), dongles("2", "100M", "1")),
            container(dongles("2", "25M", "2"), dongles("5", "50M", "2")),
            init=[
                container(dongles("4", "100M", "4"), dongles("8", "200M", "4")),
                container(dongles("1", "50M", "2"), dongles("2", "100M", "2")),
            ],
        ),
        {**RUNS, **cpu("4", "8"), **memory("100M", "200M"), "requests.example.com/dongle": "4"},
    ),
    "past its deletion": (pod(container({"cpu": "1"}, {"cpu": "2"}), meta=deleted(60)), COUNT),
    "not past its deletion": (
        pod(container({"cpu": "1"}, {"cpu": "2"}), meta=deleted(0)),
        {**RUNS, **cpu("1", "2")},
    ),
    "with overhead": (
        pod(container({"cpu": "1"}, {"cpu": "2"}), overhead={"cpu": "1"}),
        {**RUNS, **cpu("2", "3")},
    ),
    "cpu of the pod": (
        pod(resources={"requests": {"cpu": "1m"}, "limits": {"cpu": "2m"}}),
        {**RUNS, **cpu("1m", "2m")},
    ),
    "memory of the pod": (
        pod(resources={"requests": {"memory": "1Mi"}, "limits": {"memory": "2Mi"}}),
        {**RUNS, **memory("1Mi", "2Mi")},
    ),
    "memory of the pod, disk of a container": (
        pod(
            container({"ephemeral-storage": "32Mi"}, {"ephemeral-storage": "64Mi"}),
            resources={"requests": {"memory": "1Mi"}, "limits": {"memory": "2Mi"}},
        ),
        {**RUNS, **memory("1Mi", "2Mi"), **disk("32Mi", "64Mi")},
    ),
}


@pytest.mark.parametrize(("given", "used"), WHOLE.values(), ids=WHOLE)
def test_a_pod_uses(given, used):
    assert write(usage(PODS, given, NOW)) == dict(sorted(used.items()))


BOTH = {"cpu": "100m", "memory": "200Mi"}, {"cpu": "200m", "memory": "400Mi"}


@pytest.mark.parametrize(
    ("asks", "limits", "has", "used"),
    [
        ({"memory": "200Mi"}, {"memory": "400Mi"}, {"requests": {"memory": "150Mi"}}, memory("200Mi", "400Mi")),
        ({"cpu": "100m"}, {"cpu": "200m"}, {"requests": {"cpu": "150m"}}, cpu("150m", "200m")),
        (
            *BOTH,
            {"requests": {"cpu": "150m", "memory": "250Mi"}},
            {**cpu("150m", "200m"), **memory("250Mi", "400Mi")},
        ),
        (*BOTH, None, {**cpu("100m", "200m"), **memory("200Mi", "400Mi")}),
        (
            *BOTH,
            {"requests": BOTH[0], "limits": {"cpu": "300m", "memory": "400Mi"}},
            {**cpu("100m", "300m"), **memory("200Mi", "400Mi")},
        ),
    ],
    ids=["memory made larger", "cpu made smaller", "both made smaller", "nothing is told", "limit made smaller"],
)
def test_a_pod_that_is_resized_uses_the_more_of_what_it_asks_for_and_has(asks, limits, has, used):
    row = {"name": "c", **({"resources": has} if has else {})}

    found = usage(PODS, pod(container(asks, limits), status={"containerStatuses": [row]}), NOW)

    assert write(found) == dict(sorted({**RUNS, **used}.items()))


SCOPES = ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"]
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))


def near(kind, when, **term):
    terms = [term] if when == REQUIRED else [{"weight": 1, "podAffinityTerm": term}]
    return {"affinity": {kind: {when: terms}}, "activeDeadlineSeconds": 30}


FAR = ["Terminating", "BestEffort", "CrossNamespacePodAffinity"]


@pytest.mark.parametrize(
    ("spec", "scopes"),
    [
        ({}, ["NotTerminating", "BestEffort"]),
        ({"priorityClassName": "class1"}, ["NotTerminating", "BestEffort", "PriorityClass"]),
        ({"containers": [container({"cpu": "1"}, {"cpu": "2"})]}, ["NotTerminating", "NotBestEffort"]),
        ({"activeDeadlineSeconds": 30}, ["Terminating", "BestEffort"]),
        (near("podAffinity", REQUIRED, namespaces=["ns1"], namespaceSelector={}), FAR),
        (near("podAffinity", REQUIRED, namespaces=["ns1"]), FAR),
        (near("podAffinity", PREFERRED, namespaces=["ns2"], namespaceSelector={}), FAR),
        (near("podAffinity", PREFERRED, namespaceSelector={}), FAR),
        (near("podAntiAffinity", PREFERRED, namespaceSelector={}), FAR),
        (near("podAntiAffinity", REQUIRED, namespaces=["ns3"]), FAR),
    ],
)
def test_scopes_of_a_pod(spec, scopes):
    selectors = [{"scopeName": scope, "operator": "Exists"} for scope in SCOPES]
    selectors.append({"scopeName": "PriorityClass", "operator": "In", "values": ["class1"]})

    found = [each["scopeName"] for each in selectors if in_scope(each, PODS, pod(**{"containers": [], **spec}))]

    assert sorted(found) == sorted(scopes)


def service(kind, *ports, **spec):
    return {"spec": {"type": kind, "ports": [{"port": 27443 + at, **port} for at, port in enumerate(ports)], **spec}}


@pytest.mark.parametrize(
    ("given", "balancers", "node_ports"),
    [
        (service("LoadBalancer"), 1, 0),
        (service("LoadBalancer", {}), 1, 1),
        (service("LoadBalancer", {}, {}), 1, 2),
        (service("ClusterIP"), 0, 0),
        (service("NodePort", {}), 0, 1),
        (service("NodePort", {}, {}), 0, 2),
        (service("LoadBalancer", {}, {}, allocateLoadBalancerNodePorts=False), 1, 0),
        (service("LoadBalancer", {"nodePort": 32001}, {"nodePort": 32002}), 1, 2),
        (service("LoadBalancer", {}, {}, allocateLoadBalancerNodePorts=True), 1, 2),
        (service("LoadBalancer", {"nodePort": 1}, {"nodePort": 2}, allocateLoadBalancerNodePorts=False), 1, 2),
    ],
)
def test_a_service_uses(given, balancers, node_ports):
    assert write(usage(SERVICES, given, NOW)) == {
        "count/services": "1",
        "services": "1",
        "services.loadbalancers": str(balancers),
        "services.nodeports": str(node_ports),
    }


def claim(storage, storage_class=None, **status):
    spec = {"resources": {"requests": {"storage": storage}}}
    return {"spec": spec | ({"storageClassName": storage_class} if storage_class else {}), "status": status}


@pytest.mark.parametrize(
    ("given", "storage"),
    [
        (claim("10Gi"), "10Gi"),
        (claim("10Gi", "gold"), "10Gi"),
        (claim("1001m"), "2"),
        (claim("1001m", "gold"), "2"),
        (claim("5G", allocatedResources={"storage": "10G"}), "10G"),
        (claim("10G", allocatedResources={"storage": "5G"}), "10G"),
    ],
)
def test_a_claim_uses(given, storage):
    used = {"persistentvolumeclaims": "1", "requests.storage": storage}
    if "storageClassName" in given["spec"]:
        used |= {f"gold.storageclass.storage.k8s.io/{name}": value for name, value in used.items()}

    assert write(usage(CLAIMS, given, NOW)) == dict(sorted({"count/persistentvolumeclaims": "1", **used}.items()))


@pytest.mark.parametrize(
    ("spec", "current", "target", "selected"),
    [
        (None, None, None, [("DoesNotExist",), ("NotIn", "class4")]),
        ("class1", None, None, [("Exists",), ("In", "class1"), ("In", "class1", "class2"), ("NotIn", "class4")]),
        (
            "class1",
            "class2",
            None,
            [("Exists",), ("In", "class1"), ("In", "class2"), ("In", "class1", "class2"), ("NotIn", "class4")],
        ),
        (
            "class1",
            "class2",
            "class3",
            [
                ("Exists",),
                ("In", "class1"),
                ("In", "class2"),
                ("In", "class3"),
                ("In", "class1", "class2"),
                ("NotIn", "class4"),
            ],
        ),
    ],
)
def test_attributes_classes_of_a_claim(spec, current, target, selected):
    given = {
        "spec": {"volumeAttributesClassName": spec},
        "status": {
            "currentVolumeAttributesClassName": current,
            "modifyVolumeStatus": {"targetVolumeAttributesClassName": target},
        },
    }
    asked = [("DoesNotExist",), ("Exists",), *(("In", f"class{number}") for number in (1, 2, 3, 4))]
    asked += [("In", "class1", "class2"), ("NotIn", "class4")]

    found = [
        (operator, *values)
        for operator, *values in asked
        if in_scope({"scopeName": "VolumeAttributesClass", "operator": operator, "values": values}, CLAIMS, given)
    ]

    assert found == selected


def device(count=None, name="gpu", mode="ExactCount", **more):
    return {"deviceClassName": name, "allocationMode": mode, **({"count": count} if count is not None else {}), **more}


def exactly(**words):
    return {"name": "r", "exactly": device(**words)}


def first(*requests):
    return {"name": "r", "firstAvailable": [*requests]}


@pytest.mark.parametrize(
    ("requests", "devices"),
    [
        ([exactly(count=1)], {"gpu": 1}),
        ([exactly(count=1)] * 5, {"gpu": 5}),
        ([exactly(count=5)], {"gpu": 5}),
        ([exactly(mode="All")], {"gpu": 32}),
        ([exactly(mode="future-mode", count=1)], {"gpu": 0}),
        ([exactly(count=1, adminAccess=True)], {"gpu": 1}),
        ([first(device(1))], {"gpu": 1}),
        ([first(device(2), device(1))], {"gpu": 2}),
        ([first(device(1), device(mode="All"))], {"gpu": 32}),
        ([first(device(1), device(name="tpu", mode="All"))], {"gpu": 1, "tpu": 32}),
    ],
)
def test_a_resource_claim_uses(requests, devices):
    used = {f"{name}.deviceclass.resource.k8s.io/devices": str(count) for name, count in devices.items()}

    found = write(usage(RESOURCE_CLAIMS, {"spec": {"devices": {"requests": requests}}}, NOW))

    assert found == {"count/resourceclaims.resource.k8s.io": "1", **used}


@pytest.mark.parametrize(
    ("resource", "names", "others"),
    [
        (SERVICES, ["services", "services.nodeports", "services.loadbalancers"], ["configmaps", "cpu"]),
        (
            CLAIMS,
            [
                "count/persistentvolumeclaims",
                "requests.storage",
                "persistentvolumeclaims",
                "gold.storageclass.storage.k8s.io/requests.storage",
                "gold.storageclass.storage.k8s.io/persistentvolumeclaims",
            ],
            [
                "storage",
                "ephemeral-storage",
                "bronze.storageclass.storage.k8s.io/storage",
                "gold.storage.k8s.io/requests.storage",
            ],
        ),
        (
            RESOURCE_CLAIMS,
            ["count/resourceclaims.resource.k8s.io", "gpu.deviceclass.resource.k8s.io/devices"],
            [
                "resourceclaims",
                "storage",
                "ephemeral-storage",
                "bronze.deviceclass.resource.k8s.io/storage",
                "gpu.storage.k8s.io/requests.storage",
            ],
        ),
    ],
    ids=["services", "claims", "resource claims"],
)
def test_only_some_names_are_relevant(resource, names, others):
    assert relevant(resource, [*others, *names]) == names
