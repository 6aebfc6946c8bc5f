from hyperkube_admission.namespace_auto_provision import NamespaceAutoProvision

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

OBJECT = {"metadata": {"name": "c", "namespace": "ns"}}


class TestPromises(AdmissionContract):
    plugin = NamespaceAutoProvision

    def unconcerned(self, rig):
        return []

    def concerned(self, rig):
        return [rig.request("CREATE", CONFIG_MAPS, OBJECT)]

    def test_a_failed_write_gives_back_what_was_charged(self):
        """A namespace is no charge: it stays, as somebody else may use it already."""
        rig = self.rig()
        (request,) = self.concerned(rig)

        rig.admit(request)

        assert request.on_failure == []
        assert rig.client.get(NAMESPACES, "ns")


def test_the_namespace_comes_with_its_first_object():
    rig = AdmissionRig(NamespaceAutoProvision)

    rig.create(CONFIG_MAPS, OBJECT)
    rig.create(CONFIG_MAPS, OBJECT)

    assert [found["metadata"]["name"] for found in rig.client.objects(NAMESPACES)] == ["ns"]


def test_updates_create_nothing():
    rig = AdmissionRig(NamespaceAutoProvision)

    rig.update(CONFIG_MAPS, OBJECT, OBJECT)

    assert rig.client.objects(NAMESPACES) == []
