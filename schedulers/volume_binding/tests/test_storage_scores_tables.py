"""How nodes score by their storage, number by number.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/`` (scorer_test.go, and TestVolumeBinding
of volume_binding_test.go). Those of volumes that are to be made follow from the rule in volume_binding.go (Score).
"""

import pytest
from hyperkube_scheduler.volume_binding import NO_VOLUME_REASON, VolumeBinding
from hyperkube_scheduler.volume_binding.scoring import score_of
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

FULL_FIRST = ((0, 0), (100, 100))
STEEP = ((50, 0), (80, 30), (100, 50))


@pytest.mark.parametrize(
    ("shape", "requested", "expected"),
    [
        *((FULL_FIRST, (requested,), requested) for requested in (0, 30, 50, 100)),
        (FULL_FIRST, (0, 0), 0), (FULL_FIRST, (0, 30), 15), (FULL_FIRST, (30, 30), 30), (FULL_FIRST, (30, 60), 45),
        (FULL_FIRST, (50, 50), 50), (FULL_FIRST, (50, 100), 75), (FULL_FIRST, (100, 100), 100),
        (STEEP, (0, 0), 0), (STEEP, (0, 30), 0), (STEEP, (30, 30), 0), (STEEP, (30, 60), 5), (STEEP, (50, 100), 25),
        (STEEP, (90, 90), 40), (STEEP, (100, 100), 50),
    ],
)  # fmt: skip
def test_classes_of_100_each(shape, requested, expected):
    shares = {f"class{number}": (each, 100) for number, each in enumerate(requested)}

    assert score_of(shares, shape) == expected


ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
CUSTOM = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 3}, {"utilization": 100, "score": 5}]
SSD, HDD = "wait-sc", "wait-hdd-sc"
HOSTS = [{"name": f"node-{letter}", "labels": {HOST: f"node-{letter}"}} for letter in "abc"]
ZONES = [
    {"name": f"zone-{zone}-node-{node}", "labels": {ZONE: f"zone-{zone}", REGION: f"region-{zone}"}}
    for zone in "abc"
    for node in "ab"
]


def build(claims, volumes=(), capacities=(), settings=None, gate=True):
    client = FakeClient()
    for name in (SSD, HDD):
        made = {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "example.com/p" if capacities else ""}
        client.create(STORAGE_CLASSES, {"metadata": {"name": name}, **made})
    client.create(CSI_DRIVERS, {"metadata": {"name": "example.com/p"}, "spec": {"storageCapacity": True}})
    for name, (storage_class, size) in claims.items():
        spec = {"storageClassName": storage_class, "resources": {"requests": {"storage": size}}}
        client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})
    for number, (storage_class, size, labels) in enumerate(volumes):
        rows = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
        affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": rows}]}}
        spec = {"storageClassName": storage_class, "capacity": {"storage": size}, "nodeAffinity": affinity}
        client.create(PERSISTENT_VOLUMES, {"metadata": {"name": f"pv-{number}"}, "spec": spec})
    for number, (storage_class, size, host) in enumerate(capacities):
        row = {"storageClassName": storage_class, "nodeTopology": {"matchLabels": {HOST: host}}, "capacity": size}
        client.create(CSI_STORAGE_CAPACITIES, {"metadata": {"name": f"c{number}", "namespace": "default"}, **row})
    informers = InformerFactory(client)
    informers.start()
    gates = {"StorageCapacityScoring": gate}
    context = PluginContext(
        name="VolumeBinding", client=client, informers=informers, gates=gates, settings=settings or {}
    )
    plugin = VolumeBinding(context)
    plugin.connect(lambda _change: None)
    return plugin


def filtered(plugin, claims, rows):
    nodes = table(*rows)
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    pod = pod_info({"spec": {"volumes": volumes}}, nodes)
    return verdicts(plugin, pod, nodes), pod, nodes


def two_each(*rows):
    """Two volumes of each size and place."""
    return [row for row in rows for _ in range(2)]


A, B = {HOST: "node-a"}, {HOST: "node-b"}
ZONE_A, ZONE_B = {ZONE: "zone-a", REGION: "region-a"}, {ZONE: "zone-b", REGION: "region-b"}


@pytest.mark.parametrize(
    ("claims", "volumes", "rows", "shape", "expected"),
    [
        pytest.param(
            {"pvc-a": (SSD, "50Gi")}, two_each((SSD, "200Gi", A), (SSD, "100Gi", B)), HOSTS, SHAPE, [25, 50, 0],
            id="local volumes",
        ),
        pytest.param(
            {"pvc-0": (SSD, "50Gi"), "pvc-1": (HDD, "100Gi")},
            two_each((SSD, "200Gi", A), (HDD, "200Gi", A), (SSD, "100Gi", B), (HDD, "100Gi", B)),
            HOSTS, SHAPE, [38, 75, 0],
            id="local volumes of two classes",
        ),
        pytest.param(
            {"pvc-a": (SSD, "50Gi")}, two_each((SSD, "200Gi", ZONE_A), (SSD, "100Gi", ZONE_B)), ZONES, SHAPE,
            [25, 25, 50, 50, 0, 0],
            id="volumes of zones",
        ),
        pytest.param(
            {"pvc-a": (SSD, "50Gi")}, two_each((SSD, "200Gi", ZONE_A), (SSD, "100Gi", ZONE_B)), ZONES, CUSTOM,
            [15, 15, 30, 30, 0, 0],
            id="volumes of zones, another shape",
        ),
    ],
)  # fmt: skip
def test_volumes_that_are_there(claims, volumes, rows, shape, expected):
    plugin = build(claims, volumes, settings={"shape": shape})

    told, pod, nodes = filtered(plugin, claims, rows)

    assert told == ["" if score else f"! {NO_VOLUME_REASON}" for score in expected]
    assert not plugin.skips_score(pod, nodes)
    assert plugin.score(pod, nodes).tolist() == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param(SHAPE, [50, 25, 0], id="full nodes first"),
        pytest.param(None, [50, 75, 0], id="roomy nodes first, as usual"),
    ],
)
def test_volumes_that_are_to_be_made(shape, expected):
    claims = {"one": (SSD, "30Gi"), "two": (SSD, "20Gi")}
    capacities = [(SSD, "100Gi", "node-a"), (SSD, "200Gi", "node-b")]
    plugin = build(claims, capacities=capacities, settings={"shape": shape} if shape else {})

    _, pod, nodes = filtered(plugin, claims, HOSTS)

    assert plugin.score(pod, nodes).tolist() == expected


def test_without_the_gate_storage_is_not_scored():
    claims = {"pvc-a": (SSD, "50Gi")}
    plugin = build(claims, two_each((SSD, "200Gi", A)), gate=False)

    _, pod, nodes = filtered(plugin, claims, HOSTS)

    assert plugin.skips_score(pod, nodes)


def test_a_shape_that_falls_back_is_refused():
    with pytest.raises(UsageError, match="sorted in increasing order"):
        build({}, settings={"shape": [*reversed(SHAPE)]})
