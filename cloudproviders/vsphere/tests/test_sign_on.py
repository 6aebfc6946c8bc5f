"""Login by a certificate: who has its key gets a token, and by that a session of each of a vCenter's APIs."""

import sys
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from hyperkube_cloud.vsphere.sign_on import TokenService, is_certificate
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudUnavailable

pytestmark = pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")  # pyVmomi's


def made(name):
    certificate, key = sys.modules["vsphere_token_service"].solution_user(name)
    return SimpleNamespace(certificate=certificate, key=key)


@pytest.fixture(scope="module")
def pair():
    return made("solution-user")


@pytest.fixture
def service(pair):
    return sys.modules["vsphere_token_service"].TokenServiceDouble(pair.certificate)


@pytest.fixture
def double(double, service):
    """Return a vCenter that knows the solution user, and no other user."""
    vmware, token_service = sys.modules["vsphere_vmware"], sys.modules["vsphere_token_service"]

    class WithTokens(type(double)):
        def __call__(self, request):
            self.raw, where = request, urlsplit(request.url)
            if where.path == "/sts/STSService":
                self.sent.append(("Issue", where.path, None))
                try:
                    return answer(200, service.issued(request.body))
                except KeyError:
                    return answer(500, token_service.FAULT)
            return super().__call__(request)

        def do_login_by_token(self, _this, locale=None):
            service.logs_in(self.raw.body)
            return super().do_login("", user_name=vmware.USER, password=sys.modules["vsphere_inventory"].PASSWORD)

        def do_login(self, _this, user_name, password):
            raise AssertionError("a certificate is no user")

        def play(self, method, path, query, body):
            if (method, path) == ("POST", "/rest/com/vmware/cis/session"):
                where = urlsplit(self.raw.url)
                service.authorizes(self.session, method, path, where.hostname, where.port or 80)
            return super().play(method, path, query, body)

    double.__class__ = WithTokens
    return double


@pytest.fixture
def cloud(double, tmp_path, pair):
    return logging_in(double, tmp_path, pair.certificate, pair.key)


def logging_in(double, tmp_path, certificate, key):
    """Return what the plugin offers with a certificate for the user."""
    vmware = sys.modules["vsphere_vmware"]

    def quoted(pem):
        return '"' + pem.decode().replace("\n", "\\n") + '"'

    config = vmware.CONFIG.replace("administrator@vsphere.local", quoted(certificate))
    return vmware.provider(vmware.built(double, tmp_path, config.replace("secret-of-the-test", quoted(key))))


def methods(double):
    return [method for method, _, _ in double.sent]


def test_a_certificate_logs_in_to_both_apis_and_again_when_the_session_has_expired(double, cloud):
    node = double.machine(double.hosts[0][0])

    assert cloud.instances.metadata(node).zone == "zone-0"
    assert methods(double).count("Issue") == 2
    double.sessions.clear()
    assert cloud.instances.exists(node)

    assert methods(double).count("LoginByToken") == 2
    assert "Login" not in methods(double)


def test_a_certificate_that_the_vcenter_does_not_know_is_told_without_a_secret(double, tmp_path):
    stranger = made("stranger")
    instances = logging_in(double, tmp_path, stranger.certificate, stranger.key).instances

    with pytest.raises(CloudUnavailable, match=r"^Issue: the vCenter gives no token: 500 FailedAuthentication$"):
        instances.exists(double.machine(double.hosts[0][0]))


def test_a_token_that_the_vcenter_refuses_is_told(double, cloud):
    from pyVmomi import vim

    fault = sys.modules["vsphere_inventory"].fault

    def refuse(*_, **__):
        raise fault(vim.fault.InvalidLogin, "Cannot complete login")

    double.do_login_by_token = refuse

    with pytest.raises(
        CloudUnavailable, match=r"LoginByToken: the vCenter refuses the certificate's token \(InvalidLogin\)"
    ):
        cloud.instances.exists(double.machine(double.hosts[0][0]))


@pytest.mark.parametrize(
    "key", ["", "secret-of-the-test", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_that_is_none_is_told_before_anything_is_sent(pair, key):
    def send(_request):
        raise AssertionError("sent")

    with pytest.raises(CloudUnavailable, match="is no RSA key in PEM without a passphrase") as raised:
        TokenService(send, "https://vcenter").issue(pair.certificate.decode(), key)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "reply",
    [
        answer(200, b""),
        answer(200, b"<html/>"),
        answer(200, b"{}"),
        answer(200, b"<a>" * 100_000),
        answer(404, b"<html/>"),
        answer(302, b""),
    ],
    ids=["nothing", "a page", "no XML", "depth", "a proxy's 404", "a redirect"],
)
def test_rubbish_is_no_token(pair, reply):
    service = TokenService(lambda _request: reply, "https://vcenter")

    with pytest.raises(CloudUnavailable, match=r"^Issue: "):
        service.issue(pair.certificate.decode(), pair.key.decode())


def test_of_a_chain_the_first_certificate_counts_and_a_name_is_none(pair):
    assert is_certificate(pair.certificate.decode())
    assert not is_certificate("administrator@vsphere.local")
    with pytest.raises(CloudUnavailable, match="the certificate in place of a user cannot be read"):
        TokenService(lambda _request: answer(200, b""), "https://v").issue(
            "-----BEGIN CERTIFICATE-----\n", pair.key.decode()
        )
