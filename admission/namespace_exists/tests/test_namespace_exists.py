import pytest
from hyperkube_admission.namespace_exists import NamespaceExists

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import NotFound
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

OBJECT = {"metadata": {"name": "c", "namespace": "ns"}}


class TestPromises(AdmissionContract):
    plugin = NamespaceExists

    def populate(self, rig):
        rig.client.seed(NAMESPACES, {"metadata": {"name": "ns"}})

    def unconcerned(self, rig):
        return []

    def concerned(self, rig):
        return [
            rig.request("CREATE", CONFIG_MAPS, OBJECT),
            rig.request("CREATE", CONFIG_MAPS, OBJECT, namespace="none"),
        ]


def test_a_missing_namespace_is_not_found():
    rig = AdmissionRig(NamespaceExists)

    for write in (rig.create, rig.delete):
        with pytest.raises(NotFound):
            write(CONFIG_MAPS, OBJECT)


def test_namespaces_themselves_pass():
    AdmissionRig(NamespaceExists).create(NAMESPACES, {"metadata": {"name": "new"}})
