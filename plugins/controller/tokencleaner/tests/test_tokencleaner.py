"""The tokencleaner controller: not before the time."""

from base64 import b64encode

import pytest
from hyperkube_controller.tokencleaner import Tokencleaner

from hyperkube.kinds.resources import SECRETS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def secret(expiration="2030-01-01T00:01:40Z", kind="bootstrap.kubernetes.io/token"):
    data = {"expiration": b64encode(expiration.encode()).decode()} if expiration else {}
    meta = {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}
    return {"kind": "Secret", "metadata": meta, "type": kind, "data": data}


class TestContract(ControllerContract):
    plugin = Tokencleaner

    def populate(self, rig):
        rig.client.seed(SECRETS, secret("2029-01-01T00:00:00Z"))


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (secret(), [1, 0]),
        (secret("soon"), [0, 0]),
        (secret(""), [1, 1]),
        ({**secret(), "data": {"expiration": ""}}, [1, 1]),
        (secret(kind="Opaque"), [1, 1]),
    ],
    ids=["expires", "unreadable", "never", "empty", "no token"],
)
def test_a_token_goes_when_it_expires(given, left):
    rig = ControllerRig(Tokencleaner)
    rig.client.seed(SECRETS, given)
    rig.settle()
    rig.advance(90)
    before = len(rig.client.objects(SECRETS))

    rig.advance(11)

    assert [before, len(rig.client.objects(SECRETS))] == left
