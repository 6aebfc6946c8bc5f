"""Private keys of pods, and the requests that prove who holds them.

Source: kubernetes ``pkg/kubelet/podcertificate/podcertificatemanager.go`` (generateKeyAndProof, cleanCertificateChain).
"""

from __future__ import annotations

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hyperkube_host.kubelet.types.pem import blocks, certificate

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

_RSA_BITS = {"RSA3072": 3072, "RSA4096": 4096}
_CURVES: dict[str, type[ec.EllipticCurve]] = {
    "ECDSAP256": ec.SECP256R1,
    "ECDSAP384": ec.SECP384R1,
    "ECDSAP521": ec.SECP521R1,
}
_DIGESTS: dict[str, hashes.SHA256 | hashes.SHA384 | hashes.SHA512] = {
    "ECDSAP384": hashes.SHA384(),
    "ECDSAP521": hashes.SHA512(),
}


class UnknownKeyType(ValueError):
    """The pod asks for a key of a type that this kubelet does not make."""


def new_private_key(key_type: str) -> PrivateKey:
    """Make a key; RSA takes seconds of CPU.

    Raises:
        UnknownKeyType: of no such type.
    """
    if key_type in _RSA_BITS:
        return rsa.generate_private_key(public_exponent=65537, key_size=_RSA_BITS[key_type])
    if key_type in _CURVES:
        return ec.generate_private_key(_CURVES[key_type]())
    if key_type == "ED25519":
        return ed25519.Ed25519PrivateKey.generate()
    raise UnknownKeyType(f'unknown key type "{key_type}"')


def stub_pkcs10_request(key: PrivateKey, key_type: str) -> bytes:
    """Return a PKCS #10 request in DER that holds the public key and nothing else, signed with the key as proof."""
    digest = None if isinstance(key, ed25519.Ed25519PrivateKey) else _DIGESTS.get(key_type, hashes.SHA256())
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    return builder.sign(key, digest).public_bytes(serialization.Encoding.DER)


def private_key_pem(key: PrivateKey) -> bytes:
    """Return a key as PKCS #8 in PEM."""
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def clean_certificate_chain(chain: str) -> bytes:
    """Return the certificates of a chain in PEM, without the headers and texts between them."""
    return b"".join(map(certificate, blocks(chain)))
