"""The rows of core kinds in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.component_statuses.table import component_status_cells
from hyperkube_api.core.config_maps.table import config_map_cells
from hyperkube_api.core.endpoints.table import endpoints_cells
from hyperkube_api.core.events.table import event_cells
from hyperkube_api.core.limit_ranges.table import limit_range_cells
from hyperkube_api.core.namespaces.table import namespace_cells
from hyperkube_api.core.nodes.table import node_cells
from hyperkube_api.core.persistent_volume_claims.table import persistent_volume_claim_cells
from hyperkube_api.core.persistent_volumes.table import persistent_volume_cells
from hyperkube_api.core.pod_templates.table import pod_template_cells
from hyperkube_api.core.replication_controllers.table import replication_controller_cells
from hyperkube_api.core.resource_quotas.table import resource_quota_cells
from hyperkube_api.core.scale import scale_cells
from hyperkube_api.core.secrets.table import secret_cells
from hyperkube_api.core.service_accounts.table import service_account_cells
from hyperkube_api.core.services.table import service_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}
GOING = {**META, "deletionTimestamp": "2026-01-01T12:00:00Z"}
TEMPLATE = {"metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
CLASS = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}


def ready(status):
    return {"conditions": [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": status}]}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({}, {}, "Unknown"),
        ({}, ready("True"), "Ready"),
        ({}, ready("False"), "NotReady"),
        ({}, ready("Unknown"), "NotReady"),
        ({"unschedulable": True}, {}, "Unknown,SchedulingDisabled"),
        ({"unschedulable": True}, ready("True"), "Ready,SchedulingDisabled"),
        ({"unschedulable": True}, ready("False"), "NotReady,SchedulingDisabled"),
    ],
)
def test_a_node_row_shows_whether_it_may_be_used(spec, status, shown):
    assert node_cells({"metadata": META, "spec": spec, "status": status}, NOW)[1] == shown


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ({}, "<none>"),
        ({"node-role.kubernetes.io/worker": ""}, "worker"),
        ({"kubernetes.io/role": "storage"}, "storage"),
        ({"kubernetes.io/role": "", "node-role.kubernetes.io/": "x"}, "<none>"),
        ({"node-role.kubernetes.io/b": "", "node-role.kubernetes.io/a": "x", "kubernetes.io/role": "b"}, "a,b"),
    ],
)
def test_a_node_row_shows_the_roles(labels, shown):
    assert node_cells({"metadata": {**META, "labels": labels}}, NOW)[2] == shown


def test_a_wide_node_row_shows_what_runs_there():
    info = {
        "kubeletVersion": "v1.36.2",
        "osImage": "Fedora",
        "kernelVersion": "6.0",
        "containerRuntimeVersion": "containerd://2.0",
    }
    addresses = [{"type": "ExternalIP", "address": "1.1.1.1"}, {"type": "InternalIP", "address": "2.2.2.2"}]
    obj = {"metadata": META, "status": {"nodeInfo": info, "addresses": [*addresses, {"type": "InternalIP"}]}}

    assert node_cells(obj, NOW)[3:] == ["5m", "v1.36.2", "2.2.2.2", "1.1.1.1", "Fedora", "6.0", "containerd://2.0"]
    assert node_cells({"metadata": META}, NOW)[4:] == ["", "<none>", "<none>", *["<unknown>"] * 3]


BALANCED = {"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "b.example.com"}, {"ip": "1.1.1.1"}]}}


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({"type": "ClusterIP"}, {}, "<none>"),
        ({"type": "ClusterIP", "externalIPs": ["9.9.9.9", "8.8.8.8"]}, BALANCED, "9.9.9.9,8.8.8.8"),
        ({"type": "NodePort"}, {}, "<none>"),
        ({"type": "NodePort", "externalIPs": ["9.9.9.9"]}, {}, "9.9.9.9"),
        ({"type": "LoadBalancer"}, {}, "<pending>"),
        ({"type": "LoadBalancer"}, BALANCED, "1.1.1.1,2.2.2.2,b.example.com"),
        ({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]}, {}, "9.9.9.9"),
        ({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]}, BALANCED, "1.1.1.1,2.2.2.2,b.example.com,9.9.9.9"),
        ({"type": "ExternalName", "externalName": "x.example.com"}, {}, "x.example.com"),
        ({}, {}, "<unknown>"),
    ],
)
def test_a_service_row_shows_how_it_is_reached_from_outside(spec, status, shown):
    assert service_cells({"metadata": META, "spec": spec, "status": status}, NOW)[3] == shown


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"type": "ExternalName"}, ["ExternalName", "<none>", "<none>", "<none>"]),
        (
            {
                "type": "NodePort",
                "clusterIPs": ["10.0.0.1", "fd00::1"],
                "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}],
                "selector": {"b": "2", "a": "1"},
            },
            ["NodePort", "10.0.0.1", "80:30080/TCP,53/UDP", "a=1,b=2"],
        ),
    ],
    ids=["least", "rich"],
)
def test_a_service_row_shows_addresses_ports_and_selector(spec, shown):
    row = service_cells({"metadata": META, "spec": spec}, NOW)

    assert [row[1], row[2], row[4], row[6]] == shown


def addresses(*texts):
    return [{"ip": text} for text in texts]


@pytest.mark.parametrize(
    ("subsets", "shown"),
    [
        (None, "<none>"),
        ([{"ports": [{"port": 80}]}], ""),
        ([{"notReadyAddresses": addresses("1.2.3.4"), "ports": [{"port": 80}]}], ""),
        ([{"addresses": addresses("1.2.3.4", "fd00::1")}], "1.2.3.4,fd00::1"),
        ([{"addresses": addresses("1.2.3.4", "fd00::1"), "ports": [{"port": 80}]}], "1.2.3.4:80,[fd00::1]:80"),
        (
            [{"addresses": addresses("1.1.1.1", "1.1.1.2"), "ports": [{"port": 80}, {"port": 53}]}],
            "1.1.1.1:80,1.1.1.2:80,1.1.1.1:53 + 1 more...",
        ),
        (
            [{"addresses": addresses("1.1.1.1", "1.1.1.2")}, {"addresses": addresses("1.1.1.3", "1.1.1.4")}],
            "1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...",
        ),
    ],
    ids=["none", "no-address", "not-ready", "portless", "ports", "many", "subsets"],
)
def test_an_endpoints_row_shows_the_first_addresses(subsets, shown):
    assert endpoints_cells({"metadata": META, "subsets": subsets}, NOW) == ["a", shown, "5m"]


@pytest.mark.parametrize(
    ("conditions", "shown"),
    [
        (None, ["Unknown", "", ""]),
        ([{"type": "Odd", "status": "True"}], ["Unknown", "", ""]),
        ([{"type": "Healthy", "status": "True", "message": "ok"}], ["Healthy", "ok", ""]),
        ([{"type": "Healthy", "status": "False", "message": "m", "error": "e"}], ["Unhealthy", "m", "e"]),
        ([{"type": "Healthy", "status": "Unknown"}], ["Unhealthy", "", ""]),
    ],
    ids=["none", "other", "healthy", "ill", "unclear"],
)
def test_a_component_row_shows_its_health(conditions, shown):
    assert component_status_cells({"metadata": META, "conditions": conditions}, NOW) == ["a", *shown]


@pytest.mark.parametrize(
    ("cells", "obj", "shown"),
    [
        (config_map_cells, {}, [0, "5m"]),
        (config_map_cells, {"data": {"x": "1"}, "binaryData": {"y": "", "z": ""}}, [3, "5m"]),
        (secret_cells, {"type": "Opaque", "data": {"x": ""}}, ["Opaque", 1, "5m"]),
        (service_account_cells, {"secrets": [{}]}, ["5m"]),
        (namespace_cells, {"status": {"phase": "Terminating"}}, ["Terminating", "5m"]),
        (limit_range_cells, {}, ["2026-01-01T11:55:00Z"]),
        (pod_template_cells, {"template": TEMPLATE}, ["c", "i", "a=1,b=2"]),
        (pod_template_cells, {}, ["", "", "<none>"]),
        (replication_controller_cells, {"spec": {"replicas": 5}, "status": {"replicas": 2, "readyReplicas": 1}},
         [5, 2, 1, "5m", "", "", "<none>"]),
        (replication_controller_cells, {"spec": {"template": TEMPLATE, "selector": {"a": "b"}}},
         [0, 0, 0, "5m", "c", "i", "a=b"]),
    ],
)  # fmt: skip
def test_a_row_of_a_simple_kind(cells, obj, shown):
    assert cells({"metadata": META, **obj}, NOW) == ["a", *shown]


@pytest.mark.parametrize(
    ("obj", "shown"), [({}, [0, 0]), ({"spec": {"replicas": 5}, "status": {"replicas": 3}}, [5, 3])]
)
def test_a_scale_row_shows_what_is_wished_for_and_what_is_there(obj, shown):
    assert scale_cells({"metadata": META, **obj}, NOW) == ["a", *shown, "5m"]


def test_a_quota_row_shows_limits_apart():
    hard = {"limits.cpu": "2", "cpu": "1", "requests.storage": "10Gi", "limitsfoo": "3", "count/limits": "4"}
    obj = {"metadata": META, "status": {"hard": hard, "used": {"cpu": "500m", "limits.cpu": "1"}}}

    assert resource_quota_cells(obj, NOW) == [
        "a",
        "count/limits: 0/4, cpu: 500m/1, limitsfoo: 0/3, requests.storage: 0/10Gi",
        "limits.cpu: 1/2",
        "5m",
    ]


@pytest.mark.parametrize(
    ("meta", "spec", "status", "shown"),
    [
        (META, {}, {"phase": "Pending"}, ["0", "", "", "Pending", "", "", "<unset>", "", "5m", "<unset>"]),
        (
            {**GOING, **CLASS},
            {
                "capacity": {"storage": "4Gi"},
                "accessModes": ["ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Delete",
                "claimRef": {"namespace": "n", "name": "c"},
                "storageClassName": "new",
                "volumeAttributesClassName": "",
                "volumeMode": "Block",
            },
            {"phase": "Bound", "reason": "Because"},
            ["4Gi", "RWO,ROX,RWX,RWOP", "Delete", "Terminating", "n/c", "old", "", "Because", "5m", "Block"],
        ),
    ],
    ids=["least", "rich"],
)
def test_a_volume_row(meta, spec, status, shown):
    assert persistent_volume_cells({"metadata": meta, "spec": spec, "status": status}, NOW) == ["a", *shown]


@pytest.mark.parametrize(
    ("meta", "spec", "status", "shown"),
    [
        (META, {}, {"phase": "Pending"}, ["Pending", "", "", "", "", "<unset>", "5m", "<unset>"]),
        (
            META,
            {"volumeName": "v", "storageClassName": "new", "volumeMode": "Filesystem"},
            {"phase": "Lost"},
            ["Lost", "v", "0", "", "new", "<unset>", "5m", "Filesystem"],
        ),
        (
            {**GOING, **CLASS},
            {"volumeName": "v", "volumeAttributesClassName": "fast"},
            {"phase": "Bound", "accessModes": ["ReadOnlyMany"], "capacity": {"storage": "4Gi"}},
            ["Terminating", "v", "4Gi", "ROX", "old", "fast", "5m", "<unset>"],
        ),
    ],
    ids=["least", "lost", "rich"],
)
def test_a_claim_row(meta, spec, status, shown):
    assert persistent_volume_claim_cells({"metadata": meta, "spec": spec, "status": status}, NOW) == ["a", *shown]


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({}, ["<unknown>", "<unknown>", 1]),
        ({"firstTimestamp": "2026-01-01T11:00:00Z", "lastTimestamp": "2026-01-01T11:50:00Z", "count": 6},
         ["10m", "60m", 6]),
        ({"firstTimestamp": "2026-01-01T11:00:00Z"}, ["60m", "60m", 1]),
        ({"eventTime": "2026-01-01T11:50:00.000000Z"}, ["10m", "10m", 1]),
        ({"eventTime": "2026-01-01T11:00:00.000000Z",
          "series": {"count": 1, "lastObservedTime": "2026-01-01T11:50:00.000000Z"}}, ["10m", "60m", 1]),
        ({"eventTime": "2026-01-01T11:00:00.000000Z", "deprecatedCount": 3,
          "deprecatedLastTimestamp": "2026-01-01T11:59:00Z"}, ["60s", "60m", 3]),
    ],
)  # fmt: skip
def test_an_event_row_shows_when_it_was_seen(event, shown):
    row = event_cells({"metadata": META, **event}, NOW)

    assert [row[0], row[7], row[8]] == shown


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({}, ""),
        ({"source": {"component": "kubelet"}}, "kubelet"),
        ({"source": {"component": "kubelet", "host": "n"}}, "kubelet, n"),
        ({"reportingComponent": "c", "reportingInstance": "i"}, "c, i"),
        ({"source": {"component": "kubelet"}, "reportingComponent": "c", "reportingInstance": "i"}, "kubelet, i"),
        ({"deprecatedSource": {"component": "kubelet", "host": "n"}, "reportingController": "c"}, "kubelet, n"),
    ],
)
def test_an_event_row_shows_who_reported_it(event, shown):
    assert event_cells({"metadata": META, **event}, NOW)[5] == shown


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"involvedObject": {"kind": "Pod"}, "message": "  m\n"}, ["pod", "", "m"]),
        ({"involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"}, "message": "m"},
         ["pod/p", "spec.containers{c}", "m"]),
        ({"regarding": {"kind": "ReplicaSet", "name": "r"}, "note": "n"}, ["replicaset/r", "", "n"]),
    ],
)  # fmt: skip
def test_an_event_row_shows_what_happened_to_what(event, shown):
    row = event_cells({"metadata": META, **event}, NOW)

    assert [row[3], row[4], row[6]] == shown
