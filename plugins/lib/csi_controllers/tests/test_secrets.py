"""Secrets by the parameters of a class."""

import pytest
from hyperkube_lib.csi_controllers import SecretKind, secret_data, secret_reference

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import SECRETS

VALUES = {"pv.name": "pvc-u", "pvc.namespace": "d"}
NAMES = {**VALUES, "pvc.name": "c", "pvc.annotations['team']": "red"}
P = "csi.storage.k8s.io/"


def reference(kind=SecretKind.PROVISIONER, **parameters):
    return secret_reference(kind, {f"{P}{k.replace('_', '-')}": v for k, v in parameters.items()}, NAMES, VALUES)


@pytest.mark.parametrize(
    ("name", "found"),
    [("plain", "plain"), ("${pvc.name}-${pv.name}", "c-pvc-u"), ("${pvc.annotations['team']}", "red")],
)
def test_a_name_may_be_a_template(name, found):
    wanted = {"name": found, "namespace": "d"}

    assert reference(provisioner_secret_name=name, provisioner_secret_namespace="${pvc.namespace}") == wanted


def test_one_secret_may_do_for_all():
    both = {
        "secret_name": "s",
        "secret_namespace": "n",
        "node_stage_secret_name": "t",
        "node_stage_secret_namespace": "n",
    }

    assert reference(SecretKind.NODE_STAGE, **both)["name"] == "t"
    assert reference(SecretKind.NODE_PUBLISH, **both)["name"] == "s"
    assert reference() == {}


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"provisioner_secret_name": "s"}, "either name and namespace for Provisioner secrets specified, Both must be"),
        (
            {"provisioner_secret_name": "${x}", "provisioner_secret_namespace": "n"},
            r'error resolving csi.storage.k8s.io/provisioner-secret-name: "\$\{x\}": invalid tokens: \["x"\]',
        ),
        (
            {"provisioner_secret_name": "A_", "provisioner_secret_namespace": "n"},
            'csi.storage.k8s.io/provisioner-secret-name: "A_" resolved to "A_" which is not a valid secret name',
        ),
        ({"provisioner_secret_name": "s", "provisioner_secret_namespace": "${pvc.name}"}, "invalid tokens"),
    ],
)
def test_what_leads_to_no_secret(parameters, text):
    with pytest.raises(VolumeFailed, match=text):
        reference(**parameters)


def test_what_is_in_a_secret():
    client = FakeClient()
    client.seed(SECRETS, {"metadata": {"name": "s", "namespace": "n"}, "data": {"key": "aHVzaA=="}})

    assert secret_data(client, {"name": "s", "namespace": "n"}) == {"key": "hush"}
    assert secret_data(client, {}) == {}
    with pytest.raises(VolumeFailed, match="error getting secret t in namespace n"):
        secret_data(client, {"name": "t", "namespace": "n"})


def test_a_value_that_is_no_text_is_told_and_not_shown():
    client = FakeClient()
    client.seed(SECRETS, {"metadata": {"name": "s", "namespace": "n"}, "data": {"key": "/w=="}})

    with pytest.raises(VolumeFailed, match=r"^secret s in namespace n: a value is not UTF-8$"):
        secret_data(client, {"name": "s", "namespace": "n"})
