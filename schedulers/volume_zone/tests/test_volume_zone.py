"""Bound volumes of a zone keep their pods there."""

import pytest
from hyperkube_scheduler.volume_zone import REASON, VolumeZone
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.plugin import PluginContext

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
POD = {"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}


def build(labels):
    client = FakeClient()
    client.create(PERSISTENT_VOLUMES, {"metadata": {"name": "pv", "labels": labels}, "spec": {}})
    claim = {"metadata": {"name": "data", "namespace": "default"}, "spec": {"volumeName": "pv"}}
    client.create(PERSISTENT_VOLUME_CLAIMS, claim)
    informers = InformerFactory(client)
    informers.start()
    plugin = VolumeZone(PluginContext(name="VolumeZone", client=client, informers=informers))
    plugin.connect(lambda _change: None)
    return plugin


def nodes():
    return table({"name": "a", "labels": {ZONE: "z1"}}, {"name": "b", "labels": {OLD_ZONE: "z2"}}, {"name": "c"})


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        pytest.param({ZONE: "z1"}, [True, False, True], id="same-name"),
        pytest.param({OLD_ZONE: "z1"}, [True, False, True], id="old-name"),
        pytest.param({OLD_ZONE: "z1__z2"}, [True, True, True], id="two-zones"),
        pytest.param({}, [True, True, True], id="no-zone"),
    ],
)
def test_zones_are_compared(labels, kept):
    world, plugin = nodes(), build(labels)

    result = plugin.filter(pod_info(POD, world), world)

    assert result.mask.tolist() == kept
    assert all(kept) or result.reasons[REASON].tolist() == [not each for each in kept]


class TestContract(SchedulingContract):
    plugin = VolumeZone
    nodes = ({"name": "a", "labels": {ZONE: "z1"}}, {"name": "b", "labels": {ZONE: "z2"}})
    pods = (POD,)

    def build(self):
        return build({ZONE: "z1"})
