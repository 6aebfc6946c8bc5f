"""Keys of pods: the types, the request that proves the key, and chains without what is no certificate."""

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from hyperkube_host.kubelet.podcertificate.private_keys import (
    UnknownKeyType,
    clean_certificate_chain,
    new_private_key,
    private_key_pem,
    stub_pkcs10_request,
)
from hyperkube_lib.serving.certificates import make_ca


@pytest.mark.parametrize(
    ("key_type", "kind", "size", "digest"),
    [
        ("RSA3072", rsa.RSAPublicKey, 3072, "sha256"),
        ("ECDSAP256", ec.EllipticCurvePublicKey, 256, "sha256"),
        ("ECDSAP384", ec.EllipticCurvePublicKey, 384, "sha384"),
        ("ECDSAP521", ec.EllipticCurvePublicKey, 521, "sha512"),
        ("ED25519", ed25519.Ed25519PublicKey, None, None),
    ],
)
def test_a_request_holds_the_public_key_alone_and_is_signed_with_the_private_one(key_type, kind, size, digest):
    key = new_private_key(key_type)

    request = x509.load_der_x509_csr(stub_pkcs10_request(key, key_type))

    assert request.is_signature_valid
    assert isinstance(request.public_key(), kind)
    assert getattr(request.public_key(), "key_size", None) == size
    assert getattr(request.signature_hash_algorithm, "name", None) == digest
    assert (list(request.subject), list(request.extensions)) == ([], [])
    assert load_pem_private_key(private_key_pem(key), None).public_key() == request.public_key()


def test_an_unknown_type_is_told():
    with pytest.raises(UnknownKeyType, match='unknown key type "RSA1024"'):
        new_private_key("RSA1024")


def test_texts_and_headers_between_certificates_are_dropped():
    first, second = make_ca("a").certificate, make_ca("b").certificate
    with_header = second.decode().replace("CERTIFICATE-----\n", "CERTIFICATE-----\nissuer: me\n\n", 1)
    garbage = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"

    assert clean_certificate_chain(f"leaf:\n{first.decode()}and\n{garbage}{with_header}") == first + second
