import pytest
from hyperkube_authn.request_header import RequestHeader
from hyperkube_testing.peers.certificates import issue

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Unauthorized
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

AUTHORITY = issue("proxy-ca", authority=True)
PROXY = issue("front-proxy", by=AUTHORITY)
HEADERS = {
    "x-remote-user": ("alice",),
    "x-remote-group": ("dev", "ops"),
    "x-remote-extra-acme.com%2fproject": ("p1",),
    "x-other": ("y",),
}


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "ca.crt"
    path.write_bytes(AUTHORITY.pem)
    options = {"requestheader_client_ca_file": str(path), "requestheader_allowed_names": ("front-proxy",)}
    return RequestHeader(PluginContext(name="RequestHeader", clock=FakeClock(), settings=options))


def test_a_trusted_proxy_names_the_user(plugin):
    user = plugin.authn_authenticate(Credentials(certificate=(PROXY.der,), headers=HEADERS)).user

    assert user.name == "alice"
    assert user.groups == ("dev", "ops", "system:authenticated")
    assert dict(user.extra) == {"acme.com/project": ("p1",)}


@pytest.mark.parametrize("proxy", [issue("front-proxy"), issue("stranger", by=AUTHORITY)], ids=["unsigned", "name"])
def test_another_proxy_is_refused(plugin, proxy):
    with pytest.raises(Unauthorized):
        plugin.authn_authenticate(Credentials(certificate=(proxy.der,), headers=HEADERS))


def test_headers_without_a_certificate_are_not_believed(plugin):
    assert plugin.authn_authenticate(Credentials(headers=HEADERS)) is None


def test_without_headers_or_authority_nobody_is_named(plugin):
    unset = RequestHeader(PluginContext(name="RequestHeader"))

    assert plugin.authn_authenticate(Credentials(certificate=(PROXY.der,), headers={})) is None
    assert unset.authn_authenticate(Credentials(certificate=(PROXY.der,), headers=HEADERS)) is None


class TestContract(AuthnContract):
    @pytest.fixture
    def built(self, plugin):
        return plugin

    def good(self, built):
        return [Credentials(certificate=(PROXY.der,), headers=HEADERS)]

    def bad(self, built):
        return [Credentials(certificate=(issue("front-proxy").der,), headers=HEADERS)]


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, plugin):
        return plugin

    def good(self, built):
        return [Credentials(certificate=(PROXY.der,), headers=HEADERS)]

    def bad(self, built):
        return [Credentials(certificate=(issue("front-proxy").der,), headers=HEADERS)]
