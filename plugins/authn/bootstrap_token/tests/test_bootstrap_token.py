from base64 import b64encode

import pytest
from hyperkube_authn.bootstrap_token import BootstrapToken

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.authn import Credentials
from hyperkube.kinds.resources import SECRETS
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

TOKEN = "abcdef.0123456789abcdef"
GOOD = {
    "token_id": "abcdef",
    "token_secret": "0123456789abcdef",
    "usage_bootstrap_authentication": "true",
}


def build(*, on=True, kind="bootstrap.kubernetes.io/token", **changed):
    client = FakeClient()
    data = {key: value for key, value in {**GOOD, **changed}.items() if value is not None}
    secret = {
        "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"},
        "type": kind,
        "data": {key.replace("_", "-"): b64encode(value.encode()).decode() for key, value in data.items()},
    }
    client.seed(SECRETS, secret)
    options = {"enable_bootstrap_token_auth": on}
    return BootstrapToken(PluginContext(name="BootstrapToken", client=client, clock=client.clock, settings=options))


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self):
        return build()

    def good(self, built):
        return [Credentials(token=TOKEN)]

    def foreign(self, built):
        return [
            Credentials(token="abcdef.aaaaaaaaaaaaaaaa"),
            Credentials(token="zzzzzz.0123456789abcdef"),
            Credentials(token=TOKEN + "\n"),
            Credentials(token="a.b.c"),
        ]


def test_a_token_names_a_bootstrapper_and_its_extra_groups():
    built = build(auth_extra_groups="system:bootstrappers:b,system:bootstrappers:a")

    user = built.authn_authenticate(Credentials(token=TOKEN)).user

    assert user.name == "system:bootstrap:abcdef"
    assert user.groups == ("system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:b")


@pytest.mark.parametrize(
    "changed",
    [
        {"on": False},
        {"kind": "Opaque"},
        {"token_id": "zzzzzz"},
        {"token_secret": None},
        {"usage_bootstrap_authentication": "false"},
        {"usage_bootstrap_authentication": None},
        {"expiration": "2000-01-01T00:00:00Z"},
        {"expiration": "soon"},
        {"auth_extra_groups": "system:masters"},
        {"auth_extra_groups": "system:bootstrappers:a,system:masters"},
    ],
    ids=repr,
)
def test_what_the_secret_does_not_allow_names_nobody(changed):
    assert build(**changed).authn_authenticate(Credentials(token=TOKEN)) is None


def test_a_token_that_has_not_expired_yet_counts():
    assert build(expiration="2100-01-01T00:00:00Z").authn_authenticate(Credentials(token=TOKEN)) is not None
