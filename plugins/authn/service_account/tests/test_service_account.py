from base64 import b64encode

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hyperkube_authn.service_account import ServiceAccount
from hyperkube_lib.service_account_tokens import TokenIssuer

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.authn import Credentials
from hyperkube.kinds.resources import PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Unauthorized
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

ISSUER = "https://kubernetes.default.svc.cluster.local"
KEYS = {"rsa": rsa.generate_private_key(65537, 2048), "ecdsa": ec.generate_private_key(ec.SECP256R1())}


class World:
    def __init__(self, tmp_path, key):
        self.clock = FakeClock()
        self.client = FakeClient(self.clock)
        path = tmp_path / "sa.key"
        path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        self.issuer = TokenIssuer.from_file(str(path), ISSUER, self.clock)
        (self.account,) = self.client.seed(
            SERVICE_ACCOUNTS, {"metadata": {"name": "sa", "namespace": "ns", "uid": "u-sa"}}
        )
        options = {"service_account_key_file": (str(path),), "service_account_issuer": (ISSUER,)}
        self.plugin = ServiceAccount(
            PluginContext(
                name="ServiceAccount",
                clock=self.clock,
                client=self.client,
                informers=InformerFactory(self.client, self.clock),
                settings=options,
            )
        )

    def token(self, *, audiences=(ISSUER,), seconds=600, bound=None):
        return self.issuer.issue(
            namespace="ns", account=self.account, audiences=audiences, seconds=seconds, bound=bound
        )[0]

    def ask(self, token, audiences=()):
        return self.plugin.authn_authenticate(Credentials(token=token, audiences=audiences))


@pytest.fixture(params=KEYS)
def world(tmp_path, request):
    return World(tmp_path, KEYS[request.param])


def test_a_token_names_its_account(world):
    answer = world.ask(world.token())

    assert answer.user.name == "system:serviceaccount:ns:sa"
    assert answer.user.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert answer.user.extra["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")
    assert answer.audiences == (ISSUER,)


def test_a_token_dies_with_its_time(world):
    token = world.token()
    world.clock.advance(601)

    with pytest.raises(Unauthorized):
        world.ask(token)


def test_a_token_dies_with_its_pod(world):
    (pod,) = world.client.seed(PODS, {"metadata": {"name": "p", "namespace": "ns", "uid": "u-p"}})
    token = world.token(bound={**pod, "kind": "Pod"})

    assert world.ask(token).user.extra["authentication.kubernetes.io/pod-name"] == ("p",)
    world.client.delete(PODS, "p", "ns", options={"gracePeriodSeconds": 0})
    with pytest.raises(Unauthorized):
        world.ask(token)


def test_a_recreated_account_is_another_one(world):
    token = world.token()
    world.client.delete(SERVICE_ACCOUNTS, "sa", "ns")
    world.client.seed(SERVICE_ACCOUNTS, {"metadata": {"name": "sa", "namespace": "ns", "uid": "u-new"}})

    with pytest.raises(Unauthorized):
        world.ask(token)


def test_a_token_must_be_meant_for_who_asks(world):
    token = world.token(audiences=("vault",))

    with pytest.raises(Unauthorized):
        world.ask(token)
    assert world.ask(token, ("vault", "other")).audiences == ("vault",)


def test_a_changed_token_is_refused(world):
    head, body, signature = world.token().split(".")

    with pytest.raises(Unauthorized):
        world.ask(f"{head}.{body}.{signature[:-4]}AAAA")


def test_a_token_with_more_behind_it_has_a_wrong_signature(world):
    with pytest.raises(Unauthorized, match="error in cryptographic primitive"):
        world.ask(world.token() + "x")


@pytest.mark.parametrize("more", ["xxx", "=", "!"])
def test_a_signature_that_cannot_be_read_is_no_token(world, more):
    assert world.ask(world.token() + more) is None


def test_an_unsigned_token_is_refused(world):
    claims = jwt.decode(world.token(), options={"verify_signature": False})

    with pytest.raises(Unauthorized):
        world.ask(jwt.encode(claims, None, algorithm="none"))


@pytest.mark.parametrize("token", ["", "x", "a.b.c", jwt.encode({"iss": "https://other"}, "k" * 32)])
def test_another_kind_of_token_is_somebody_elses_to_judge(world, token):
    assert world.ask(token) is None


def test_a_pods_automatic_token_is_given_a_year(world):
    (pod,) = world.client.seed(PODS, {"metadata": {"name": "p", "namespace": "ns", "uid": "u-p"}})

    claims = jwt.decode(world.token(seconds=3607, bound={**pod, "kind": "Pod"}), options={"verify_signature": False})

    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


def test_a_legacy_token_lives_while_its_secret_holds_it(world):
    token = world.issuer.issue_legacy(namespace="ns", account=world.account, secret={"metadata": {"name": "sa-token"}})
    with pytest.raises(Unauthorized):
        world.ask(token)
    data = {"token": b64encode(token.encode()).decode()}
    world.client.seed(SECRETS, {"metadata": {"name": "sa-token", "namespace": "ns"}, "data": data})

    assert world.ask(token).user.name == "system:serviceaccount:ns:sa"


def test_the_use_of_a_legacy_token_is_written_down_once_a_day(world):
    token = world.issuer.issue_legacy(namespace="ns", account=world.account, secret={"metadata": {"name": "t"}})
    data = {"token": b64encode(token.encode()).decode()}
    world.client.seed(SECRETS, {"metadata": {"name": "t", "namespace": "ns"}, "data": data})

    world.ask(token)
    first = world.client.get(SECRETS, "t", "ns")["metadata"]
    world.ask(token)
    again = world.client.get(SECRETS, "t", "ns")["metadata"]
    world.clock.advance(24 * 3600 + 1)
    world.ask(token)
    later = world.client.get(SECRETS, "t", "ns")["metadata"]

    assert first["labels"] == {"kubernetes.io/legacy-token-last-used": "2030-01-01"}
    assert again["resourceVersion"] == first["resourceVersion"]
    assert later["labels"] == {"kubernetes.io/legacy-token-last-used": "2030-01-02"}


def test_a_legacy_token_that_is_marked_invalid_is_refused(world):
    token = world.issuer.issue_legacy(namespace="ns", account=world.account, secret={"metadata": {"name": "t"}})
    labels = {"kubernetes.io/legacy-token-invalid-since": "2029-12-31"}
    data = {"token": b64encode(token.encode()).decode()}
    world.client.seed(SECRETS, {"metadata": {"name": "t", "namespace": "ns", "labels": labels}, "data": data})

    with pytest.raises(Unauthorized):
        world.ask(token)


class TestContract(AuthnContract):
    @pytest.fixture
    def built(self, world):
        self.world = world
        return world.plugin

    def good(self, built):
        return [Credentials(token=self.world.token())]

    def bad(self, built):
        expired = self.world.token()
        self.world.clock.advance(601)
        return [Credentials(token=expired)]


class TestPromises(AuthnContract):
    @pytest.fixture
    def world(self, tmp_path):
        return World(tmp_path, KEYS["ecdsa"])

    @pytest.fixture
    def built(self, world):
        self.tokens = world.token(), world.token(audiences=("vault",))
        return world.plugin

    def good(self, built):
        return [Credentials(token=self.tokens[0])]

    def bad(self, built):
        return [Credentials(token=self.tokens[1])]
