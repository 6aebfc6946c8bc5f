"""Which disks and claims two pods can share, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions_test.go``.
"""

import pytest
from hyperkube_scheduler.volume_restrictions import DISK_REASON, ONCE_REASON, VolumeRestrictions
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS
from hyperkube.plugin import PluginContext

RBD, ISCSI = {"pool": "foo", "image": "bar", "fsType": "ext4"}, {"targetPortal": "127.0.0.1:3260", "lun": 0}
DISKS = {
    "gce": ({"gcePersistentDisk": {"pdName": "foo"}}, {"gcePersistentDisk": {"pdName": "bar"}}),
    "ebs": ({"awsElasticBlockStore": {"volumeID": "foo"}}, {"awsElasticBlockStore": {"volumeID": "bar"}}),
    "rbd": ({"rbd": {**RBD, "monitors": ["a", "b"]}}, {"rbd": {**RBD, "monitors": ["c", "d"]}}),
    "iscsi": (
        {"iscsi": {**ISCSI, "iqn": "iqn.2016-12.server:storage.target01"}},
        {"iscsi": {**ISCSI, "iqn": "iqn.2017-12.server:storage.target01"}},
    ),
}


def build(*claims):
    client = FakeClient()
    for name in claims:
        mode = "ReadWriteOncePod" if "rwop" in name else "ReadWriteMany"
        meta = {"name": name, "namespace": "default"}
        client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": meta, "spec": {"accessModes": [mode]}})
    informers = InformerFactory(client)
    informers.start()
    plugin = VolumeRestrictions(PluginContext(name="VolumeRestrictions", client=client, informers=informers))
    plugin.connect(lambda _change: None)
    return plugin


def pod(name, *volumes):
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "volumes": list(volumes)}}


def claims(*names):
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]


def verdict(plugin, wanted, *placed):
    nodes = table({"name": "node-1"})
    for number, volumes in enumerate(placed):
        nodes.put_pod(pod(f"p{number}", *volumes), "node-1")
    return verdicts(plugin, pod_info(pod("new", *wanted), nodes), nodes)[0]


@pytest.mark.parametrize("kind", DISKS)
def test_disks(kind):
    one, other = DISKS[kind]

    assert verdict(build(), []) == "", "nothing at all"
    assert verdict(build(), [], [one]) == "", "a disk on the node"
    assert verdict(build(), [one], [one]) == DISK_REASON, "the same disk"
    assert verdict(build(), [other], [one]) == "", "another disk"


@pytest.mark.parametrize("volumes", [[], [{"name": "volume with no restriction"}]], ids=["none", "others"])
def test_pods_without_such_volumes_are_not_asked_about(volumes):
    nodes = table({"name": "node-1"})

    assert build().skips(pod_info(pod("new", *volumes), nodes))


ONCE, ONCE_TOO, MANY = "claim-with-rwop-1", "claim-with-rwop-2", "claim-with-rwx"


@pytest.mark.parametrize(
    ("known", "wanted", "placed", "expected"),
    [
        pytest.param((), [], [], "", id="nothing"),
        pytest.param((), [ONCE], [], '! persistentvolumeclaim "claim-with-rwop-1" not found', id="missing"),
        pytest.param((ONCE, MANY), [ONCE], [[MANY]], "", id="another claim in use"),
        pytest.param((ONCE, MANY), [ONCE], [[ONCE], [MANY]], ONCE_REASON, id="in use"),
        pytest.param((ONCE, ONCE_TOO, MANY), [ONCE, ONCE_TOO], [[ONCE, ONCE_TOO], [MANY]], ONCE_REASON, id="both"),
    ],
)
def test_claims_for_one_pod(known, wanted, placed, expected):
    assert verdict(build(*known), claims(*wanted), *(claims(*names) for names in placed)) == expected


def test_what_may_help_wakes_the_pods_that_were_refused():
    assert {"persistentvolumeclaims", "node", "pod gone"} <= VolumeRestrictions.events_to_register
