"""The bootstrapsigner controller: one signature for each token that may sign."""

from base64 import b64encode

import pytest
from hyperkube_controller.bootstrapsigner import Bootstrapsigner

from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

jwt = pytest.importorskip("jwt", reason="reads the signatures with another implementation")

KEY = "jws-kubeconfig-abcdef"


def secret(**data):
    data = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true", **data}
    return {
        "kind": "Secret",
        "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"},
        "type": "bootstrap.kubernetes.io/token",
        "data": {key: b64encode(value.encode()).decode() for key, value in data.items()},
    }


def cluster_info(**data):
    meta = {"name": "cluster-info", "namespace": "kube-public"}
    return {"kind": "ConfigMap", "metadata": meta, "data": {"kubeconfig": "the kubeconfig", **data}}


class TestContract(ControllerContract):
    plugin = Bootstrapsigner

    def populate(self, rig):
        rig.client.seed(CONFIG_MAPS, cluster_info())
        rig.client.seed(SECRETS, secret())


def run(config_map, *secrets):
    rig = ControllerRig(Bootstrapsigner)
    rig.client.seed(CONFIG_MAPS, config_map)
    rig.client.seed(SECRETS, *secrets)
    rig.settle()
    return rig.client.objects(CONFIG_MAPS)[0]["data"]


@pytest.mark.filterwarnings("ignore:The HMAC key is 16 bytes")  # as long as such tokens are
def test_a_token_signs():
    header, nothing, code = run(cluster_info(), secret())[KEY].split(".")

    payload = b64encode(b"the kubeconfig").decode().rstrip("=")
    signed = jwt.api_jws.PyJWS().decode_complete(f"{header}.{payload}.{code}", "0123456789abcdef", ["HS256"])
    assert nothing == ""
    assert signed["payload"] == b"the kubeconfig"
    assert signed["header"] == {"alg": "HS256", "kid": "abcdef"}


def test_tokens_that_may_not_sign():
    others = [{"usage-bootstrap-signing": "false"}, {"expiration": "2029-12-31T00:00:00Z"}, {"token-id": "ghijkl"}]

    for other in others:
        assert KEY not in run(cluster_info(), secret(**other))


def test_signatures_without_token_go():
    assert run(cluster_info(**{KEY: "old"})) == {"kubeconfig": "the kubeconfig"}


@pytest.mark.filterwarnings("ignore:The HMAC key is 16 bytes")
def test_an_empty_time_is_no_end():
    assert KEY in run(cluster_info(), secret(expiration=""))
