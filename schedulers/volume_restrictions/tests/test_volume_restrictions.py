"""One disk, one pod of a node; one claim, one pod."""

import pytest
from hyperkube_scheduler.volume_restrictions import DISK_REASON, ONCE_REASON, VolumeRestrictions, conflict
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS
from hyperkube.plugin import PluginContext

DISK = {"name": "v", "gcePersistentDisk": {"pdName": "disk"}}
READER = {"name": "v", "gcePersistentDisk": {"pdName": "disk", "readOnly": True}}
RBD = {"monitors": ["a", "b"], "image": "i", "pool": "p"}


def pod(name, *volumes):
    meta = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "volumes": list(volumes)}}


@pytest.mark.parametrize(
    ("one", "other", "collide"),
    [
        pytest.param(DISK, DISK, True, id="writers"),
        pytest.param(READER, READER, False, id="readers"),
        pytest.param(READER, DISK, True, id="reader-and-writer"),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "x", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "x", "readOnly": True}},
            True,
            id="ebs-even-reading",
        ),
        pytest.param({"rbd": RBD}, {"rbd": {**RBD, "monitors": ["b"]}}, True, id="rbd-common-monitor"),
        pytest.param({"rbd": RBD}, {"rbd": {**RBD, "monitors": ["c"]}}, False, id="rbd-other-monitor"),
        pytest.param({"iscsi": {"iqn": "i"}}, {"iscsi": {"iqn": "j"}}, False, id="iscsi-other"),
    ],
)
def test_which_disks_collide(one, other, collide):
    assert conflict(one, other) is collide


def test_a_node_where_the_disk_is_taken_is_refused():
    nodes = table({"name": "a"}, {"name": "b"})
    nodes.put_pod(pod("holder", DISK), "a")

    result = VolumeRestrictions(None).filter(pod_info(pod("new", DISK), nodes), nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons[DISK_REASON].tolist() == [True, False]


def test_a_claim_for_one_pod_is_in_use_everywhere_until_that_pod_goes():
    client = FakeClient()
    claim = {"metadata": {"name": "data", "namespace": "default"}, "spec": {"accessModes": ["ReadWriteOncePod"]}}
    client.create(PERSISTENT_VOLUME_CLAIMS, claim)
    informers = InformerFactory(client)
    informers.start()
    plugin = VolumeRestrictions(PluginContext(name="VolumeRestrictions", client=client, informers=informers))
    plugin.connect(lambda _change: None)
    nodes = table({"name": "a"}, {"name": "b"})
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    nodes.put_pod(pod("holder", volume), "a")

    result = plugin.filter(pod_info(pod("new", volume), nodes), nodes)
    nodes.remove_pod("default/holder", "a")
    later = plugin.filter(pod_info(pod("new", volume), nodes), nodes)
    informers.stop()

    assert list(result.reasons) == [ONCE_REASON]
    assert result.mask.tolist() == [False, False]
    assert result.unresolvable is None
    assert later.mask.all()


class TestContract(SchedulingContract):
    plugin = VolumeRestrictions
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (pod("new", DISK),)

    def world(self):
        nodes, pods = super().world()
        nodes.put_pod(pod("holder", DISK), "a")
        return nodes, pods
