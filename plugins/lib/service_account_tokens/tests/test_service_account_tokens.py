import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hyperkube_lib.service_account_tokens import TokenIssuer, algorithm_of, key_id, key_set, load_public_keys

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

RSA = rsa.generate_private_key(65537, 2048)
ECDSA = ec.generate_private_key(ec.SECP384R1())
ACCOUNT = {"metadata": {"name": "sa", "namespace": "ns", "uid": "u"}}


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (ECDSA, "ES384")], ids=["rsa", "ecdsa"])
def test_a_token_can_be_checked_with_the_published_keys(key, algorithm):
    clock = FakeClock()
    token, expires = TokenIssuer(key, "https://i", clock).issue(
        namespace="ns", account=ACCOUNT, audiences=["a"], seconds=600
    )

    (published,) = jwt.PyJWKSet.from_dict(key_set([key.public_key()])).keys
    claims = jwt.decode(
        token, published.key, [algorithm], audience="a", options={"verify_iat": False, "verify_nbf": False}
    )

    assert jwt.get_unverified_header(token)["kid"] == published.key_id == key_id(key.public_key())
    assert claims["sub"] == "system:serviceaccount:ns:sa"
    assert claims["kubernetes.io"] == {"namespace": "ns", "serviceaccount": {"name": "sa", "uid": "u"}}
    assert claims["exp"] == int(expires.timestamp()) == int(clock.now().timestamp()) + 600


def test_a_lifetime_can_be_limited():
    clock = FakeClock()

    _, expires = TokenIssuer(RSA, "https://i", clock, max_seconds=60).issue(
        namespace="ns", account=ACCOUNT, audiences=["a"], seconds=600
    )

    assert (expires - clock.now()).total_seconds() == 60


def test_files_may_hold_public_and_private_keys(tmp_path):
    path = tmp_path / "keys.pem"
    private = RSA.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = ECDSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    path.write_bytes(private + public)

    assert [algorithm_of(key) for key in load_public_keys(str(path))] == ["RS256", "ES384"]


def test_other_keys_and_files_are_refused(tmp_path):
    (tmp_path / "empty").write_text("")

    with pytest.raises(UsageError, match="must be RSA or ECDSA"):
        algorithm_of(ed25519.Ed25519PrivateKey.generate())
    with pytest.raises(UsageError, match="holds no key"):
        load_public_keys(str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="cannot read"):
        load_public_keys("/none")
