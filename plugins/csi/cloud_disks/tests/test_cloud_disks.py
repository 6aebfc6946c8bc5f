"""The driver on a cloud in memory: what CSI promises, what it is called for each cloud, and who needs the cloud."""

import pytest
from hyperkube_csi.cloud_disks import CloudDisks
from hyperkube_csi.cloud_disks.devices import candidates, present
from hyperkube_csi.cloud_disks.names import names_of
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi.cloud_refusals import as_csi
from hyperkube_testing.csi import CsiDriverContract

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import (
    CloudFailed,
    CloudThrottled,
    CloudUnavailable,
    Disk,
    DiskAttachedElsewhere,
    DiskNotFound,
    RetryLater,
)
from hyperkube.kinds.resources import NODES
from hyperkube.plugin import PluginContext
from hyperkube.plugin.loader import PluginNotFound

ZONE = "topology.kubernetes.io/zone"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {ZONE: "fake-zone"}},
    "spec": {"providerID": "fake://n1"},
    "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]},
}
USE = {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {}}
GI = 1 << 30


def driver_of(client=None, **settings):
    return CloudDisks(PluginContext(name="cloud-disks", client=client, settings=settings))


@pytest.fixture
def driver():
    pytest.importorskip("hyperkube_cloud.fake", reason="is the cloud")
    client = FakeClient()
    client.create(NODES, NODE)
    made = driver_of(client, cloud_provider="fake", hostname_override="n1")
    assert made.is_configured()
    yield made
    made.close()


class TestContract(CsiDriverContract):
    """But for the steps on a node, which take a device: see ``test_node.py``."""

    size = GI

    def test_each_step_on_a_node_may_be_repeated(self):
        pytest.skip("a cloud in memory has no devices")

    test_it_tells_how_full_a_volume_is = test_each_step_on_a_node_may_be_repeated


def make(driver, **more):
    request = {"name": "pvc-1", "capacity_range": {"required_bytes": GI}, "volume_capabilities": [USE], **more}
    return driver.in_cloud.create_volume(request)["volume"]


@pytest.mark.parametrize(
    ("settings", "used"),
    [
        ({}, False),
        ({"cloud_provider": "external"}, False),
        ({"cloud_provider": "auto-detect"}, False),
        ({"cloud_provider": "fake"}, True),
        ({"cloud_provider": "external", "external_cloud_volume_plugin": "fake"}, True),
        ({"external_cloud_volume_plugin": "fake"}, False),
    ],
    ids=["none", "external", "auto-detect", "named", "volume-plugin", "volume-plugin-alone"],
)
def test_which_cloud_it_is_of(settings, used):
    if used:
        pytest.importorskip("hyperkube_cloud.fake", reason="is the cloud")
    assert driver_of(**settings).is_configured() == used


def test_a_provider_that_is_not_installed_is_refused_where_it_is_needed():
    with pytest.raises(PluginNotFound):
        driver_of(cloud_provider="external", external_cloud_volume_plugin="nimbus").is_configured()


def test_a_node_does_not_talk_to_its_cloud():
    client = FakeClient()
    client.create(
        NODES,
        {**NODE, "metadata": {"name": "n1", "labels": {ZONE: "us-east-1a"}}, "spec": {"providerID": "aws:///z/i-1"}},
    )
    driver = driver_of(client, cloud_provider="aws", hostname_override="n1")

    assert driver.is_configured()
    assert driver.driver_name == "ebs.csi.aws.com"
    assert driver.in_cloud.node_get_info({}) == {
        "node_id": "n1",
        "max_volumes_per_node": 39,
        "accessible_topology": {"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}},
    }


def test_a_node_that_its_cloud_has_not_described_yet_is_asked_for_again(driver):
    driver.client.patch(NODES, "n1", {"spec": {"providerID": None}})

    with pytest.raises(CsiFailed, match="has no provider id yet") as raised:
        driver.in_cloud.node_get_info({})

    assert raised.value.code == "UNAVAILABLE"


DISK = Disk(id="aws://us-east-1a/vol-1", size=GI, labels={ZONE: "us-east-1a"})


@pytest.mark.parametrize(
    ("cloud", "disk", "volume_id", "node_id", "places"),
    [
        ("aws", DISK, "vol-1", "n1", {"topology.ebs.csi.aws.com/zone": "us-east-1a"}),
        (
            "gce",
            Disk(id="d", size=GI, labels={ZONE: "us-east1-b"}),
            "projects/UNSPECIFIED/zones/us-east1-b/disks/d",
            "projects/p/zones/us-east1-b/instances/n1",
            {"topology.gke.io/zone": "us-east1-b"},
        ),
        (
            "azure",
            Disk(id="/subscriptions/s/d", size=GI, labels={ZONE: "westeurope-1"}),
            "/subscriptions/s/d",
            "n1",
            {"topology.disk.csi.azure.com/zone": "westeurope-1"},
        ),
        (
            "openstack",
            Disk(id="u", size=GI, labels={ZONE: "nova"}),
            "u",
            "n1",
            {"topology.cinder.csi.openstack.org/zone": "nova"},
        ),
        ("nimbus", Disk(id="u", size=GI, labels={ZONE: "z"}), "u", "n1", {ZONE: "z"}),
    ],
    ids=["aws", "gce", "azure", "openstack", "third-party"],
)
def test_names_are_those_of_the_vendors_driver(cloud, disk, volume_id, node_id, places):
    names = names_of(cloud)

    assert names.handle(disk) == volume_id
    assert names.node_id("n1", "gce://p/us-east1-b/n1") == node_id
    assert names.places(disk.labels) == [{"segments": places}]


def test_a_disk_in_two_zones_is_of_its_region_and_reached_from_both():
    disk = Disk(id="d", size=GI, labels={ZONE: "us-east1-b__us-east1-c"})

    assert names_of("gce").handle(disk) == "projects/UNSPECIFIED/regions/us-east1/disks/d"
    assert [place["segments"]["topology.gke.io/zone"] for place in names_of("gce").places(disk.labels)] == [
        "us-east1-b", "us-east1-c",
    ]  # fmt: skip


def test_parameters_that_were_translated_are_the_providers_again():
    given = {"csi-migration": "true", "cachingMode": "None", "diskformat-migrationparam": "thin"}

    assert names_of("azure").parameters(given) == {"cachingmode": "None", "diskformat": "thin"}


def test_a_disk_is_made_in_the_zone_that_is_preferred(driver):
    place = {"preferred": [{"segments": {ZONE: "fake-zone"}}], "requisite": [{"segments": {ZONE: "elsewhere"}}]}

    assert make(driver, accessibility_requirements=place)["accessible_topology"] == [{"segments": {ZONE: "fake-zone"}}]
    with pytest.raises(CsiFailed, match="zone 'elsewhere' does not exist"):
        make(driver, name="pvc-2", accessibility_requirements={"requisite": place["requisite"]})


def test_a_file_system_of_many_writers_is_refused(driver):
    use = {"access_mode": {"mode": "MULTI_NODE_MULTI_WRITER"}, "mount": {}}

    with pytest.raises(CsiFailed, match="written by one node"):
        make(driver, volume_capabilities=[use])
    assert "message" in driver.in_cloud.validate_volume_capabilities({"volume_id": "v", "volume_capabilities": [use]})


def test_a_snapshot_is_found_by_its_id_and_makes_no_smaller_disk(driver):
    made = make(driver)["volume_id"]
    taken = driver.in_cloud.create_snapshot({"name": "s", "source_volume_id": made})["snapshot"]
    source = {"snapshot": {"snapshot_id": taken["snapshot_id"]}}

    assert driver.in_cloud.list_snapshots({"snapshot_id": taken["snapshot_id"]}) == {"entries": [{"snapshot": taken}]}
    assert driver.in_cloud.list_snapshots({"snapshot_id": "no"}) == {"entries": []}
    with pytest.raises(CsiFailed, match="code = OutOfRange"):
        make(driver, name="pvc-2", capacity_range={"required_bytes": GI // 2}, volume_content_source=source)


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (DiskNotFound("d"), "NOT_FOUND"),
        (RetryLater("d", 5), "ABORTED"),
        (CloudThrottled("d"), "UNAVAILABLE"),
        (CloudUnavailable("d"), "UNAVAILABLE"),
        (TimeoutError("d"), "UNAVAILABLE"),
        (DiskAttachedElsewhere("d"), "FAILED_PRECONDITION"),
        (CloudFailed("d"), "INTERNAL"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_a_call_after_which_something_may_be_under_way_says_so(raised, code):
    with pytest.raises(CsiFailed) as caught, as_csi():
        raise raised

    assert caught.value.code == code
    assert caught.value.is_final == (code not in {"ABORTED", "UNAVAILABLE"})


def test_a_device_may_have_another_name_than_the_cloud_says(tmp_path):
    device = tmp_path / "nvme1n1"
    device.touch()
    (tmp_path / "nvme1n1p2").touch()
    told = candidates("aws", "vol-0a", "/dev/xvdba")

    assert told == ["/dev/xvdba", "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a"]
    assert present(["/no/such/device", str(device)]) == str(device)
    assert present([str(device)], "2") == f"{device}p2"
    assert present([str(device)], "3") == ""
    assert candidates("gce", "projects/p/zones/z/disks/d", "")[0] == "/dev/disk/by-id/google-d"
    assert candidates("openstack", "0123456789-0123456789-0123", "")[0] == "/dev/disk/by-id/virtio-0123456789-012345678"
