"""The serviceaccount controller: a default account in each living namespace.

Source: kubernetes ``pkg/controller/serviceaccount/serviceaccounts_controller_test.go``.
"""

import pytest
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


GOING = {**NAMESPACE, "metadata": {"name": "d", "deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x"]}}


def account(name):
    return {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": name, "namespace": "d"}}


@pytest.mark.parametrize("how", ["added", "updated"])
@pytest.mark.parametrize(
    ("namespace", "accounts", "created"),
    [(NAMESPACE, [], 1), (NAMESPACE, ["other"], 1), (NAMESPACE, ["default", "other"], 0), (GOING, [], 0)],
    ids=["none", "another", "both", "terminating"],
)
def test_a_namespace(how, namespace, accounts, created):
    rig = ControllerRig(Serviceaccount)
    rig.client.seed(SERVICE_ACCOUNTS, *map(account, accounts))
    rig.client.seed(NAMESPACES, namespace)
    if how == "updated":
        rig.informers.refresh()
        rig.client.patch(NAMESPACES, "d", {"metadata": {"labels": {"touched": "yes"}}})
    rig.settle()

    assert sum(verb == "create" for verb, _kind, _name in rig.client.actions) == created


@pytest.mark.parametrize(
    ("namespace", "deleted", "created"),
    [
        (None, "default", 0),
        (NAMESPACE, "default", 1),
        (GOING, "default", 0),
        (NAMESPACE, "other", 0),
        (GOING, "other", 0),
    ],
    ids=["no-namespace", "default", "default-of-a-terminating", "another", "another-of-a-terminating"],
)
def test_an_account_that_is_deleted(namespace, deleted, created):
    rig = ControllerRig(Serviceaccount)
    rig.client.seed(SERVICE_ACCOUNTS, account("default"), account("other"))
    if namespace is not None:
        rig.client.seed(NAMESPACES, namespace)
    rig.settle()

    rig.client.delete(SERVICE_ACCOUNTS, deleted, "d")
    rig.settle()

    assert sum(verb == "create" for verb, _kind, _name in rig.client.actions) == created
