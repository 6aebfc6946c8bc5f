"""The bootstrapsigner controller: one signature for each token that may sign."""

from base64 import b64encode
from datetime import UTC, datetime

import pytest
from hyperkube_controller.bootstrapsigner import Bootstrapsigner, decide, sign, token_of

from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

jwt = pytest.importorskip("jwt", reason="reads the signatures with another implementation")

NOW = datetime(2030, 1, 1, tzinfo=UTC)
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


def test_a_signature_is_made_once():
    signature = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..QSxpUG7Q542CirTI2ECPSZjvBOJURUW5a7XqFpNI958"

    assert sign("payload", "abc123", "tokenSecret") == signature
    signed = cluster_info(**{KEY: sign("the kubeconfig", "abcdef", "0123456789abcdef")})
    assert decide(signed, [secret()], NOW) == []
    assert decide(cluster_info(**{KEY: "old"}), [secret()], NOW)[0].object == signed


@pytest.mark.parametrize(
    ("name", "data", "may"),
    [
        ("bootstrap-token-abcdef", {"expiration": ""}, True),
        ("bootstrap-token-abcdef", {"expiration": "2030-01-01T01:00:00Z"}, True),
        ("bootstrap-token-abcdef", {"expiration": "2029-12-31T23:00:00Z"}, False),
        ("bootstrap-token-abcdef", {"expiration": "garbage"}, False),
        ("bootstrap-token-abcdef", {"usage-bootstrap-signing": ""}, False),
        ("bootstrap-token-abcdef", {"usage-bootstrap-signing": "false"}, False),
        ("bootstrap-token-abcdef", {"usage-bootstrap-signing": "garbage"}, False),
        ("bootstrap-token-abcdef", {"token-id": ""}, False),
        ("bootstrap-token-abcdef", {"token-secret": ""}, False),
        ("bootstrap-token-ghijkl", {}, False),
        ("abcdef", {}, False),
        ("bootstrap-token-", {"token-id": ""}, False),
        ("bootstrap-token-abc", {"token-id": "abc"}, False),
        ("bootstrap-token-abcdefghi", {"token-id": "abcdefghi"}, False),
        ("bootstrap-token-ABCDEF", {"token-id": "ABCDEF"}, False),
    ],
)
def test_which_tokens_sign(name, data, may):
    given = secret(**data)
    given["metadata"]["name"] = name

    assert (token_of(given, NOW) is not None) is may


def test_without_a_kubeconfig_nothing_is_signed():
    assert decide({"data": {KEY: "old"}}, [secret()], NOW) == []


def test_signatures_without_token_go():
    assert run(cluster_info(**{KEY: "old"})) == {"kubeconfig": "the kubeconfig"}
