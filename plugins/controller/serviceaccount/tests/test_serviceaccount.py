"""The serviceaccount controller: a default account in each living namespace."""

from hyperkube_controller.serviceaccount import Serviceaccount, decide

from hyperkube.kinds.resources import NAMESPACES, SERVICE_ACCOUNTS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

NAMESPACE = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "d"}}


class TestContract(ControllerContract):
    plugin = Serviceaccount

    def populate(self, rig):
        rig.client.seed(NAMESPACES, NAMESPACE)


def test_a_deleted_default_account_comes_back():
    rig = ControllerRig(Serviceaccount)
    rig.client.seed(NAMESPACES, NAMESPACE)
    rig.settle()

    rig.client.delete(SERVICE_ACCOUNTS, "default", "d")
    rig.settle()

    assert [account["metadata"]["name"] for account in rig.client.objects(SERVICE_ACCOUNTS, "d")] == ["default"]


def test_a_namespace_that_goes_gets_none():
    going = {"metadata": {"name": "d", "deletionTimestamp": "2030-01-01T00:00:00Z"}}

    assert decide(going, has_default=False) == []
