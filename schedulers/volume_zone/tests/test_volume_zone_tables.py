"""Which zones fit which volumes, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/volumezone/volume_zone_test.go``. A class that is
missing is called there as the test's own lister calls it, in the plural; here, as the real one does.
"""

import pytest
from hyperkube_scheduler.volume_zone import REASON, VolumeZone
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from hyperkube.plugin import PluginContext

NEW, OLD = "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/"
ZONE, REGION, OLD_ZONE, OLD_REGION = f"{NEW}zone", f"{NEW}region", f"{OLD}zone", f"{OLD}region"
USELESS = {"uselessLabel": "none"}
REFUSED = f"! {REASON}"


def build(volume=None, **claim):
    client = FakeClient()
    if volume is not None:
        client.create(PERSISTENT_VOLUMES, {"metadata": {"name": "pv", "labels": volume}, "spec": {}})
    for name, mode in (("unset", {}), ("late", {"volumeBindingMode": "WaitForFirstConsumer"})):
        client.create(STORAGE_CLASSES, {"metadata": {"name": name}, **mode})
    client.create(STORAGE_CLASSES, {"metadata": {"name": "now"}, "volumeBindingMode": "Immediate"})
    client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "data", "namespace": "default"}, "spec": claim})
    informers = InformerFactory(client)
    informers.start()
    plugin = VolumeZone(PluginContext(name="VolumeZone", client=client, informers=informers))
    plugin.connect(lambda _change: None)
    return plugin


def verdict(plugin, labels, claim="data"):
    nodes = table({"name": "host1", "labels": labels})
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}] if claim is not None else []
    return verdicts(plugin, pod_info({"spec": {"volumes": volumes}}, nodes), nodes)[0]


def test_a_pod_without_volume_is_not_asked_about():
    nodes = table({"name": "host1", "labels": {OLD_ZONE: "us-west1-a"}})

    assert build({OLD_ZONE: "us-west1-a"}, volumeName="pv").skips(pod_info({}, nodes))


@pytest.mark.parametrize(
    ("volume", "node", "expected"),
    [
        pytest.param({OLD_ZONE: "us-west1-a"}, {}, "", id="a node without labels"),
        pytest.param({OLD_ZONE: "us-west1-a"}, {OLD_ZONE: "us-west1-a", **USELESS}, "", id="old zone, same"),
        pytest.param({OLD_REGION: "us-west1", **USELESS}, {OLD_REGION: "us-west1"}, "", id="old region, same"),
        pytest.param({OLD_REGION: "us-west1"}, {OLD_REGION: "no_us-west1"}, REFUSED, id="old region, other"),
        pytest.param({OLD_ZONE: "us-west1-a"}, {OLD_ZONE: "no_us-west1-a"}, REFUSED, id="old zone, other"),
        pytest.param({ZONE: "us-west1-a"}, {ZONE: "us-west1-a", **USELESS}, "", id="zone, same"),
        pytest.param({REGION: "us-west1", **USELESS}, {REGION: "us-west1"}, "", id="region, same"),
        pytest.param({REGION: "us-west1"}, {REGION: "no_us-west1"}, REFUSED, id="region, other"),
        pytest.param({ZONE: "us-west1-a"}, {ZONE: "no_us-west1-a"}, REFUSED, id="zone, other"),
        pytest.param(
            {ZONE: "us-west1-a", REGION: "us-west1-a"}, {ZONE: "us-west1-a"}, REFUSED, id="a node without the region"
        ),
        pytest.param({ZONE: "us-west1-a"}, {OLD_ZONE: "us-west1-a"}, REFUSED, id="new on the volume, old on the node"),
        pytest.param({OLD_ZONE: "us-west1-a"}, {ZONE: "us-west1-a"}, "", id="old on the volume, new on the node"),
        pytest.param({OLD_ZONE: "us-west1-a"}, {ZONE: "us-west1-b"}, REFUSED, id="old and new, other"),
    ],
)
def test_volumes_of_one_zone(volume, node, expected):
    assert verdict(build(volume, volumeName="pv"), node) == expected


@pytest.mark.parametrize(
    ("volume", "node", "expected"),
    [
        pytest.param({OLD_ZONE: "us-west1-c__us-west1-a"}, {}, "", id="a node without labels"),
        pytest.param({OLD_ZONE: "us-west1-c__us-west1-a"}, {OLD_ZONE: "us-west1-a"}, "", id="old zone, one of them"),
        pytest.param({OLD_ZONE: "us-west1-a"}, {OLD_ZONE: "us-west1-b"}, REFUSED, id="old zone, other"),
        pytest.param({ZONE: "us-west1-c__us-west1-a"}, {ZONE: "us-west1-a"}, "", id="zone, one of them"),
        pytest.param({ZONE: "us-west1-a"}, {ZONE: "us-west1-b"}, REFUSED, id="zone, other"),
        pytest.param({ZONE: "us-west1-c__"}, {ZONE: "us-west1-b"}, "", id="a label that cannot be read"),
    ],
)
def test_volumes_of_several_zones(volume, node, expected):
    assert verdict(build(volume, volumeName="pv"), node) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        pytest.param({"volumeName": "pv"}, "", id="bound"),
        pytest.param({}, "! PersistentVolumeClaim had no pv name and storageClass name", id="without class"),
        pytest.param(
            {"storageClassName": "Class_0"},
            '! storageclass.storage.k8s.io "Class_0" not found',
            id="of a class that is missing",
        ),
        pytest.param(
            {"storageClassName": "unset"},
            '! VolumeBindingMode not set for StorageClass "unset"',
            id="of a class without binding mode",
        ),
        pytest.param({"storageClassName": "late"}, "", id="that waits for the pod"),
        pytest.param({"storageClassName": "now"}, "! PersistentVolume had no name", id="that is to be bound at once"),
        pytest.param({"volumeName": "gone"}, '! persistentvolume "gone" not found', id="whose volume is gone"),
    ],
)
def test_claims(claim, expected):
    plugin = build({OLD_ZONE: "us-west1-a"}, **claim)

    assert verdict(plugin, {OLD_ZONE: "us-west1-a", **USELESS}) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("absent", '! persistentvolumeclaim "absent" not found'),
        ("", "! PersistentVolumeClaim had no name"),
    ],
)
def test_claims_that_are_not_there(name, expected):
    assert verdict(build(), {}, name) == expected


def test_what_may_help_wakes_the_pods_that_were_refused():
    assert {"storageclasses", "persistentvolumeclaims", "persistentvolumes", "node"} <= VolumeZone.events_to_register
