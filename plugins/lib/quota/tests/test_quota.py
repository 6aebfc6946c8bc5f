from datetime import UTC, datetime

import pytest
from hyperkube_lib.quota import applies, in_scope, is_charged, lacking, relevant, usage

from hyperkube.kinds.resource_lists import write
from hyperkube.machinery.groups import GroupResource

NOW = datetime(2030, 1, 1, tzinfo=UTC)
PODS, SERVICES, CLAIMS = (GroupResource("", name) for name in ("pods", "services", "persistentvolumeclaims"))
DEPLOYMENTS = GroupResource("apps", "deployments")
RESOURCE_CLAIMS = GroupResource("resource.k8s.io", "resourceclaims")
DEVICE_REQUESTS = [
    {"name": "a", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2}},
    {"name": "b", "exactly": {"deviceClassName": "nic", "allocationMode": "All"}},
    {
        "name": "c",
        "firstAvailable": [
            {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 3},
            {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1},
            {"deviceClassName": "nic", "allocationMode": "ExactCount", "count": 1},
        ],
    },
]
SMALL_CPU = {"name": "c", "resources": {"requests": {"cpu": "1m"}, "limits": {"cpu": "2m"}}}


def pod(requests=None, **spec):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": requests or {}}}], **spec}}


@pytest.mark.parametrize(
    ("resource", "obj", "used"),
    [
        (DEPLOYMENTS, {}, {"count/deployments.apps": "1"}),
        (GroupResource("", "secrets"), {}, {"count/secrets": "1", "secrets": "1"}),
        (
            PODS,
            pod({"cpu": "1", "example.com/gpu": "2"}),
            {"count/pods": "1", "pods": "1", "cpu": "1", "requests.cpu": "1", "requests.example.com/gpu": "2"},
        ),
        (PODS, {**pod({"cpu": "1"}), "status": {"phase": "Succeeded"}}, {"count/pods": "1"}),
        (
            SERVICES,
            {"spec": {"type": "LoadBalancer", "ports": [{"port": 1}, {"port": 2}]}},
            {"count/services": "1", "services": "1", "services.loadbalancers": "1", "services.nodeports": "2"},
        ),
        (
            CLAIMS,
            {"spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "1500m"}}}},
            {
                "count/persistentvolumeclaims": "1",
                "persistentvolumeclaims": "1",
                "requests.storage": "2",
                "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
                "gold.storageclass.storage.k8s.io/requests.storage": "2",
            },
        ),
        (
            RESOURCE_CLAIMS,
            {"spec": {"devices": {"requests": DEVICE_REQUESTS}}},
            {
                "count/resourceclaims.resource.k8s.io": "1",
                "gpu.deviceclass.resource.k8s.io/devices": "5",
                "nic.deviceclass.resource.k8s.io/devices": "33",
            },
        ),
    ],
    ids=["counted", "plain", "pod", "ended", "service", "claim", "resource-claim"],
)
def test_objects_use_what_they_ask_for(resource, obj, used):
    assert write(usage(resource, obj, NOW)) == dict(sorted(used.items()))


def test_a_pod_past_its_deletion_counts_as_an_object_only():
    dying = {
        **pod({"cpu": "1"}),
        "metadata": {"deletionTimestamp": "2029-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30},
    }

    assert write(usage(PODS, dying, NOW)) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "names", "missing"),
    [
        ({"containers": [{"name": "c"}]}, ["requests.cpu", "pods", "memory"], "memory for: c; requests.cpu for: c"),
        ({"containers": [SMALL_CPU]}, ["cpu"], ""),
        ({"initContainers": [SMALL_CPU]}, ["memory"], "memory for: c"),
        ({"initContainers": [{**SMALL_CPU, "name": "b"}, SMALL_CPU]}, ["memory"], "memory for: b,c"),
        ({"containers": [SMALL_CPU]}, ["memory"], "memory for: c"),
        ({"containers": [SMALL_CPU, {**SMALL_CPU, "name": "b"}]}, ["memory"], "memory for: b,c"),
        ({"containers": [{"name": "c"}, {"name": "b"}]}, ["memory", "cpu"], "cpu for: b,c; memory for: b,c"),
        ({"resources": {"requests": {"cpu": "1m"}}, "containers": [{"name": "c"}]}, ["memory", "cpu"], ""),
    ],
)
def test_containers_must_say_what_a_quota_limits_unless_the_pod_does(spec, names, missing):
    assert lacking(PODS, {"spec": spec}, names) == (f"must specify {missing}" if missing else "")
    assert lacking(DEPLOYMENTS, {"spec": spec}, names) == ""


@pytest.mark.parametrize(
    ("selector", "obj", "fits"),
    [
        ({"scopeName": "BestEffort", "operator": "Exists"}, pod(), True),
        ({"scopeName": "NotBestEffort", "operator": "Exists"}, pod(), False),
        ({"scopeName": "Terminating", "operator": "Exists"}, pod(activeDeadlineSeconds=0), True),
        ({"scopeName": "NotTerminating", "operator": "Exists"}, pod(), True),
        ({"scopeName": "PriorityClass", "operator": "Exists"}, pod(), False),
        ({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}, pod(priorityClassName="high"), True),
        ({"scopeName": "PriorityClass", "operator": "NotIn", "values": ["high"]}, pod(), True),
        (
            {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
            pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["x"]}]}}),
            True,
        ),
    ],
)
def test_scopes_select_pods(selector, obj, fits):
    assert in_scope(selector, PODS, obj) is fits


def test_a_quota_applies_when_it_limits_something_of_the_kind_and_all_scopes_fit():
    quota = {"spec": {"scopes": ["BestEffort"]}, "status": {"hard": {"pods": "1"}}}

    assert applies(quota, PODS, pod())
    assert not applies(quota, PODS, pod({"cpu": "1"}))
    assert not applies(quota, DEPLOYMENTS, {})


@pytest.mark.parametrize(
    ("resource", "operation", "subresource", "charged"),
    [
        (PODS, "CREATE", "", True),
        (PODS, "UPDATE", "", False),
        (PODS, "DELETE", "", False),
        (PODS, "CONNECT", "", False),
        (PODS, "CREATE", "binding", False),
        (PODS, "UPDATE", "status", False),
        (PODS, "UPDATE", "resize", True),
        (SERVICES, "CREATE", "", True),
        (SERVICES, "UPDATE", "", True),
        (SERVICES, "UPDATE", "status", False),
        (CLAIMS, "CREATE", "", True),
        (CLAIMS, "UPDATE", "", True),
        (CLAIMS, "DELETE", "", False),
        (CLAIMS, "CONNECT", "", False),
        (CLAIMS, "CREATE", "other", False),
        (CLAIMS, "UPDATE", "other", False),
        (RESOURCE_CLAIMS, "CREATE", "", True),
        (RESOURCE_CLAIMS, "UPDATE", "", True),
        (RESOURCE_CLAIMS, "DELETE", "", False),
        (RESOURCE_CLAIMS, "CONNECT", "", False),
        (RESOURCE_CLAIMS, "CREATE", "other", False),
        (RESOURCE_CLAIMS, "UPDATE", "other", False),
        (DEPLOYMENTS, "CREATE", "", True),
        (DEPLOYMENTS, "UPDATE", "", False),
        (DEPLOYMENTS, "DELETE", "", False),
    ],
)
def test_only_some_writes_are_charged(resource, operation, subresource, charged):
    assert is_charged(resource, operation, subresource) is charged


@pytest.mark.parametrize(
    ("before", "after", "charged"), [(None, 1, True), (1, None, True), (2, 1, False), (None, None, False)]
)
def test_a_pod_whose_deadline_comes_or_goes_is_charged_anew(before, after, charged):
    old, new = pod(activeDeadlineSeconds=before), pod(activeDeadlineSeconds=after)

    assert is_charged(PODS, "UPDATE", "", old=old, new=new) is charged


def test_devices_of_a_class_are_relevant_to_resource_claims():
    names = ["gpu.deviceclass.resource.k8s.io/devices", "count/resourceclaims.resource.k8s.io", "pods"]

    assert relevant(RESOURCE_CLAIMS, names) == names[:2]
    assert relevant(PODS, names) == ["pods"]
    assert is_charged(RESOURCE_CLAIMS, "UPDATE", "")


def test_storage_of_a_class_is_relevant_to_claims():
    names = ["gold.storageclass.storage.k8s.io/requests.storage", "pods", "requests.storage"]

    assert relevant(CLAIMS, names) == [names[0], names[2]]
