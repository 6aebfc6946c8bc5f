"""A vCenter's token service in this process: verifies what is signed by the rules of XML signatures, and gives tokens.

Sources: W3C "XML Signature Syntax and Processing", OASIS "WS-Security: X.509 token profile" and "SAML token profile",
"WS-Trust 1.3"; govmomi ``sts/internal/types.go`` (what is sent and answered), ``sts/signer.go`` (the scheme SIGN).
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import hashlib
import io
import re

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree

SOAP = "{http://schemas.xmlsoap.org/soap/envelope/}"
DS = "{http://www.w3.org/2000/09/xmldsig#}"
WSSE = "{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd}"
WSU = "{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd}"
TRUST = "{http://docs.oasis-open.org/ws-sx/ws-trust/200512}"
SAML = "{urn:oasis:names:tc:SAML:2.0:assertion}"
ALGORITHMS = {
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256": SHA256(),
    "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512": SHA512(),
}
DIGESTS = {"http://www.w3.org/2001/04/xmlenc#sha256": "sha256", "http://www.w3.org/2001/04/xmlenc#sha512": "sha512"}


def canonical(element):
    """Return an element by exclusive canonicalization."""
    out = io.BytesIO()
    etree.ElementTree(etree.fromstring(etree.tostring(element, with_tail=False))).write_c14n(
        out, exclusive=True, with_comments=False
    )
    return out.getvalue()


def verified(envelope, certificate):
    """Return the elements that an envelope's signature covers, once it is right for that certificate."""
    (signature,) = envelope.iterfind(f"{SOAP}Header/{WSSE}Security/{DS}Signature")
    info = signature.find(f"{DS}SignedInfo")
    algorithm = ALGORITHMS[info.find(f"{DS}SignatureMethod").get("Algorithm")]
    value = base64.b64decode(signature.findtext(f"{DS}SignatureValue"))
    certificate.public_key().verify(value, canonical(info), PKCS1v15(), algorithm)  # InvalidSignature
    covered = {}
    for reference in info.iterfind(f"{DS}Reference"):
        (element,) = (each for each in envelope.iter() if each.get(f"{WSU}Id") == reference.get("URI")[1:])
        digest = DIGESTS[reference.find(f"{DS}DigestMethod").get("Algorithm")]
        assert (
            base64.b64decode(reference.findtext(f"{DS}DigestValue")) == hashlib.new(digest, canonical(element)).digest()
        )
        covered[element.tag] = element
    assert set(covered) == {f"{SOAP}Body", f"{WSU}Timestamp"}
    return covered


def solution_user(name):
    """Return a certificate with an RSA key, both in PEM: what vCenters give their solution users."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 7, start, start + dt.timedelta(days=3650))
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM), pem


class TokenServiceDouble:
    """Knows solution users by their certificates; `tokens` is a token's id → whose it is."""

    def __init__(self, *certificates):
        self.known = {x509.load_pem_x509_certificate(each).public_bytes(Encoding.DER) for each in certificates}
        self.tokens = {}

    def issued(self, body):
        """Return the answer to a request for a token; KeyError where its user is not known."""
        envelope = etree.fromstring(body)
        held = envelope.find(f"{SOAP}Header/{WSSE}Security/{WSSE}BinarySecurityToken")
        der = base64.b64decode(held.text)
        if der not in self.known:
            raise KeyError("FailedAuthentication")
        certificate = x509.load_der_x509_certificate(der)
        asked = verified(envelope, certificate)[f"{SOAP}Body"].find(f"{TRUST}RequestSecurityToken")
        assert asked.findtext(f"{TRUST}KeyType") == "http://docs.oasis-open.org/ws-sx/ws-trust/200512/PublicKey"
        assert asked.findtext(f"{TRUST}RequestType") == "http://docs.oasis-open.org/ws-sx/ws-trust/200512/Issue"
        signature = envelope.find(f"{SOAP}Header/{WSSE}Security/{DS}Signature")
        assert asked.find(f"{TRUST}UseKey").get("Sig") == signature.get("Id")
        ident = f"_token-{len(self.tokens)}"
        self.tokens[ident] = certificate
        token = f'<saml2:Assertion xmlns:saml2="{SAML[1:-1]}" ID="{ident}" Version="2.0"><saml2:Issuer>sts</saml2:Issuer></saml2:Assertion>'
        told = f"<RequestedSecurityToken>{token}</RequestedSecurityToken>"
        collection = f'<RequestSecurityTokenResponseCollection xmlns="{TRUST[1:-1]}"><RequestSecurityTokenResponse>{told}</RequestSecurityTokenResponse></RequestSecurityTokenResponseCollection>'
        return f'<S:Envelope xmlns:S="{SOAP[1:-1]}"><S:Body>{collection}</S:Body></S:Envelope>'.encode()

    def logs_in(self, body):
        """Check that an envelope has one of the tokens, and is signed by its user's key."""
        envelope = etree.fromstring(body)
        security = envelope.find(f"{SOAP}Header/{WSSE}Security")
        ident = security.find(f"{SAML}Assertion").get("ID")
        assert security.findtext(f"{DS}Signature/{DS}KeyInfo/{WSSE}SecurityTokenReference/{WSSE}KeyIdentifier") == ident
        verified(envelope, self.tokens[ident])

    def authorizes(self, header, method, path, host, port):
        """Check a header of the scheme SIGN for a request without a body."""
        words = dict(re.findall(r'(\w+)="([^"]*)"', header.removeprefix("SIGN ")))
        token = etree.fromstring(gzip.decompress(base64.b64decode(words["token"])))
        body = hashlib.sha256(b"").digest()
        assert (words["signature_alg"], base64.b64decode(words["bodyhash"])) == ("RSA-SHA256", body)
        signed = f"{words['nonce']}\n{method}\n{path}\n{host}\n{port}\n".encode() + body + b"\n"
        signature = base64.b64decode(words["signature"])
        self.tokens[token.get("ID")].public_key().verify(signature, signed, PKCS1v15(), SHA256())


FAULT = (
    f'<S:Envelope xmlns:S="{SOAP[1:-1]}"><S:Body><S:Fault xmlns:ns4="http://www.w3.org/2003/05/soap-envelope">'
    '<faultcode xmlns:ns0="http://docs.oasis-open.org/ws-sx/ws-trust/200512/">ns0:FailedAuthentication</faultcode>'
    "<faultstring>Invalid credentials of secret-of-the-test</faultstring></S:Fault></S:Body></S:Envelope>"
).encode()
