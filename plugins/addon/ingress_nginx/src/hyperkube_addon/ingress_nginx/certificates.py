"""Whether nginx can use a certificate: one that it refuses would keep every later configuration from all hosts."""

from __future__ import annotations

from hyperkube_addon.ingress_nginx.routing import KeyPair


def matches(pair: KeyPair) -> bool:
    """Tell whether a certificate and a key can be read and belong together."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificates

    try:
        chain = load_pem_x509_certificates(pair.certificate)
        key = load_pem_private_key(pair.key, None)
    except (ValueError, TypeError):
        return False
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return chain[0].public_key().public_bytes(*form) == key.public_key().public_bytes(*form)
