"""PersistentVolumeLabel: labels and affinity of cloud disks, by a cloud that is made up here."""

import pytest
from hyperkube_admission import persistent_volume_label
from hyperkube_admission.persistent_volume_label import OLD_REGION, OLD_ZONE, REGION, ZONE, PersistentVolumeLabel

from hyperkube.hookspecs import cloud as cloud_specs
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud, InstanceNotFound
from hyperkube.kinds.resources import PERSISTENT_VOLUMES
from hyperkube.machinery.errors import Forbidden
from hyperkube.plugin import Plugin, PluginHost, PluginNotFound
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


class Disks:
    """Disks in two zones; one is not there."""

    def labels(self, volume):
        if "awsElasticBlockStore" in volume["spec"] and volume["spec"]["awsElasticBlockStore"]["volumeID"] == "gone":
            raise InstanceNotFound("no such volume")
        return {ZONE: "b__a", REGION: "r"}


class Made(Plugin):
    """A cloud with disks, for AWS, or without, for GCE."""

    @hookimpl
    def cloud_provider(self):
        return Cloud(name=self.context.name, volumes=Disks() if self.context.name == "aws" else None)


@pytest.fixture(autouse=True)
def _clouds(monkeypatch):
    def load(family, names, specs, context_of):
        assert (family, specs) == ("cloud", cloud_specs)
        if names[0] not in {"aws", "gce"}:
            raise PluginNotFound(family, names[0], ["aws", "gce"])
        return PluginHost(family, specs, [(name, Made(context_of(name))) for name in names])

    monkeypatch.setattr(persistent_volume_label, "load", load)


def volume(labels=None, annotations=None, name="vol-1", **spec):
    spec.setdefault("awsElasticBlockStore", {"volumeID": name})
    spec = {key: value for key, value in spec.items() if value is not None}
    return {"metadata": {"name": "pv", "labels": labels or {}, "annotations": annotations or {}}, "spec": spec}


def create(obj):
    return AdmissionRig(PersistentVolumeLabel).create(PERSISTENT_VOLUMES, obj)


def rows(made):
    return [
        [(row["key"], row["values"]) for row in term.get("matchExpressions", [])]
        for term in made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    ]


class TestPromises(AdmissionContract):
    plugin = PersistentVolumeLabel

    def concerned(self, rig):
        return [rig.request("CREATE", PERSISTENT_VOLUMES, volume())]


def test_the_clouds_labels_replace_those_given_and_say_which_nodes_fit():
    made = create(volume({ZONE: "mine", "x": "y"}))

    assert made["metadata"]["labels"] == {ZONE: "b__a", REGION: "r", "x": "y"}
    assert rows(made) == [[(REGION, ["r"]), (ZONE, ["a", "b"])]]


def test_each_term_that_is_there_gets_the_requirements():
    terms = [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}, {}]
    made = create(volume(nodeAffinity={"required": {"nodeSelectorTerms": terms}}))

    assert rows(made) == [[("k", ["v"]), (REGION, ["r"]), (ZONE, ["a", "b"])], [(REGION, ["r"]), (ZONE, ["a", "b"])]]


def test_requirements_of_its_own_are_kept_alone():
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["c"]}]}]
    made = create(volume(nodeAffinity={"required": {"nodeSelectorTerms": terms}}))

    assert rows(made) == [[(ZONE, ["c"])]]


@pytest.mark.parametrize("names", [(ZONE, REGION), (OLD_ZONE, OLD_REGION)], ids=["today's", "old"])
def test_a_provisioners_labels_are_believed(names):
    labels = dict(zip(names, ("z", "q"), strict=True))
    made = create(volume(labels, {"pv.kubernetes.io/provisioned-by": "x"}, "gone"))

    assert made["metadata"]["labels"] == labels
    assert sorted(rows(made)[0]) == sorted([(names[0], ["z"]), (names[1], ["q"])])


@pytest.mark.parametrize(
    "obj",
    [volume(name="placeholder-for-provisioning"), volume(awsElasticBlockStore=None, hostPath={"path": "/x"})],
    ids=["being provisioned", "no cloud's"],
)
def test_these_are_left_as_they_are(obj):
    assert create(obj) == obj


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (volume(name="gone"), "error querying AWS EBS volume gone: no such volume"),
        (
            volume(awsElasticBlockStore=None, gcePersistentDisk={"pdName": "d"}),
            "error querying GCE PD volume d: GCE cloud provider does not implement PV labeling",
        ),
        (
            volume(awsElasticBlockStore=None, cinder={"volumeID": "d"}),
            (
                "error querying Cinder volume d: unable to build OpenStack cloud provider for Cinder disk: "
                "cloud plugin 'openstack' is not installed (installed: aws, gce)"
            ),
        ),
    ],
    ids=["no such disk", "no labels", "not installed"],
)
def test_these_are_refused(obj, text):
    with pytest.raises(Forbidden) as refusal:
        create(obj)
    assert refusal.value.message == text
