import pytest
from hyperkube_admission.namespace_lifecycle import NamespaceLifecycle

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

ACTIVE = {"metadata": {"name": "ns"}, "status": {"phase": "Active"}}
ENDING = {"metadata": {"name": "old"}, "status": {"phase": "Terminating"}}
OBJECT = {"metadata": {"name": "c", "namespace": "ns"}}
REVIEWS = GroupVersionResource("authorization.k8s.io", "v1", "localsubjectaccessreviews")


@pytest.fixture
def rig():
    rig = AdmissionRig(NamespaceLifecycle)
    rig.seed(NAMESPACES, ACTIVE, ENDING)
    return rig


class TestPromises(AdmissionContract):
    plugin = NamespaceLifecycle

    def populate(self, rig):
        rig.client.seed(NAMESPACES, ACTIVE)

    def unconcerned(self, rig):
        return []

    def concerned(self, rig):
        return [
            rig.request("CREATE", CONFIG_MAPS, OBJECT),
            rig.request("CREATE", CONFIG_MAPS, OBJECT, namespace="none"),
        ]


def test_what_is_created_in_a_missing_namespace_is_not_found(rig):
    with pytest.raises(NotFound, match='namespaces "none" not found'):
        rig.create(CONFIG_MAPS, OBJECT, namespace="none")


def test_a_namespace_that_the_cache_has_not_seen_is_looked_up(rig):
    rig.client.seed(NAMESPACES, {"metadata": {"name": "new"}, "status": {"phase": "Active"}})

    rig.create(CONFIG_MAPS, OBJECT, namespace="new")


def test_nothing_new_is_created_in_a_namespace_that_ends(rig):
    with pytest.raises(Forbidden) as caught:
        rig.create(CONFIG_MAPS, OBJECT, namespace="old")

    assert caught.value.message == "unable to create new content in namespace old because it is being terminated"
    assert caught.value.causes == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace old is being terminated",
            "field": "metadata.namespace",
        }
    ]


def test_updates_and_deletions_go_on_there(rig):
    rig.update(CONFIG_MAPS, OBJECT, OBJECT, namespace="old")
    rig.delete(CONFIG_MAPS, OBJECT, namespace="none")


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_cannot_be_deleted(rig, name):
    with pytest.raises(Forbidden, match="this namespace may not be deleted"):
        rig.delete(NAMESPACES, {"metadata": {"name": name}})


def test_after_a_deletion_the_cache_is_not_believed(rig):
    rig.delete(NAMESPACES, ACTIVE)
    stored = rig.client.get(NAMESPACES, "ns")
    rig.client.update(NAMESPACES, {**stored, "status": {"phase": "Terminating"}}, subresource="status")

    with pytest.raises(Forbidden):
        rig.create(CONFIG_MAPS, OBJECT)


def test_reviews_do_not_tell_which_namespaces_exist(rig):
    rig.create(REVIEWS, {"metadata": {"name": "", "namespace": "none"}})


@pytest.mark.parametrize(
    ("operation", "namespace", "idle"),
    [
        ("CREATE", "ns", True),
        ("UPDATE", "ns", True),
        ("DELETE", "ns", False),
        ("CREATE", "old", False),
        ("CREATE", "none", False),
    ],
)
def test_it_is_asked_nothing_where_the_namespace_is_there_and_stays(rig, operation, namespace, idle):
    assert rig.plugin.is_idle(rig.request(operation, CONFIG_MAPS, OBJECT, namespace=namespace)) is idle


def test_it_is_asked_after_a_deletion_that_the_cache_has_not_seen(rig):
    rig.delete(NAMESPACES, ACTIVE)

    assert not rig.plugin.is_idle(rig.request("CREATE", CONFIG_MAPS, OBJECT, namespace="ns"))
