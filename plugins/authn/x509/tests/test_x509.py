from datetime import timedelta

import pytest
from hyperkube_authn.x509 import X509
from hyperkube_testing.peers.certificates import issue

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

AUTHORITY = issue("ca", authority=True, days=100)


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "ca.crt"
    path.write_bytes(AUTHORITY.pem)
    return X509(PluginContext(name="X509", clock=FakeClock(), settings={"client_ca_file": str(path)}))


def test_the_subject_is_the_user(plugin):
    client = issue("alice", ["dev", "ops"], by=AUTHORITY)

    answer = plugin.authn_authenticate(Credentials(certificate=(client.der,)))

    assert answer.user.name == "alice"
    assert answer.user.groups == ("dev", "ops", "system:authenticated")
    (credential,) = answer.user.extra["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("X509SHA256=")


def test_a_chain_over_an_intermediate_leads_to_trust(plugin):
    middle = issue("middle", by=AUTHORITY, authority=True)
    client = issue("alice", by=middle)

    assert plugin.authn_authenticate(Credentials(certificate=(client.der, middle.der))).user.name == "alice"


@pytest.mark.parametrize(
    "chain",
    [
        lambda: [issue("alice", by=issue("other", authority=True))],
        lambda: [issue("alice")],
        lambda: [issue("alice", by=AUTHORITY, start=FakeClock().now() - timedelta(days=9))],
        lambda: [issue("alice", by=AUTHORITY, server=True)],
        lambda: (lambda middle: [issue("alice", by=middle), middle])(issue("middle", by=AUTHORITY)),
    ],
    ids=["stranger", "self-signed", "expired", "for servers", "issuer is no authority"],
)
def test_what_no_authority_vouches_for_is_refused(plugin, chain):
    certificates = tuple(issued.der for issued in chain())

    with pytest.raises(Unauthorized):
        plugin.authn_authenticate(Credentials(certificate=certificates))


def test_a_malformed_certificate_is_refused(plugin):
    with pytest.raises(Unauthorized):
        plugin.authn_authenticate(Credentials(certificate=(b"x",)))


def test_no_certificate_and_no_common_name_name_nobody(plugin):
    assert plugin.authn_authenticate(Credentials()) is None
    assert plugin.authn_authenticate(Credentials(certificate=(issue("", ["dev"], by=AUTHORITY).der,))) is None


def test_a_replaced_authority_counts_at_once(plugin, tmp_path):
    other = issue("new ca, with a longer name", authority=True)
    (tmp_path / "ca.crt").write_bytes(other.pem)

    assert plugin.authn_authenticate(Credentials(certificate=(issue("bob", by=other).der,))).user.name == "bob"


def test_without_an_authority_nobody_is_recognised_and_a_bad_file_is_refused():
    assert X509(PluginContext(name="X509")).authn_authenticate(Credentials(certificate=(b"x",))) is None
    with pytest.raises(UsageError, match="cannot read certificate authorities"):
        X509(PluginContext(name="X509", settings={"client_ca_file": "/none"}))


class TestContract(AuthnContract):
    @pytest.fixture
    def built(self, plugin):
        return plugin

    def good(self, built):
        return [Credentials(certificate=(issue("alice", by=AUTHORITY).der,))]

    def bad(self, built):
        return [Credentials(certificate=(issue("eve").der,))]


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, plugin):
        return plugin

    def good(self, built):
        return [Credentials(certificate=(issue("alice", by=AUTHORITY).der,))]

    def bad(self, built):
        return [Credentials(certificate=(issue("alice").der,))]
