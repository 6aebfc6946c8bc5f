"""How the certificates come out that csrsigning signs: validity, usages, names, key identifiers.

The cases are those of kubernetes ``pkg/controller/certificates/authority``: ``authority_test.go``, ``policies_test.go``.
"""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtensionOID, NameOID
from hyperkube_controller.csrsigning import Authority, key_usages, validity

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
KEY = ec.generate_private_key(ec.SECP256R1())
URI = x509.UniformResourceIdentifier("help://me@what:8080/where/when?why=true")


def named(*names):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])


def authority(folder, *, identifier=b"an identifier of its own", times=1):
    builder = (
        x509.CertificateBuilder()
        .subject_name(named("test-ca"))
        .issuer_name(named("test-ca"))
        .public_key(KEY.public_key())
        .serial_number(42)
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    if identifier:
        builder = builder.add_extension(x509.SubjectKeyIdentifier(identifier), critical=False)
    cert, key = folder / "ca.crt", folder / "ca.key"
    cert.write_bytes(builder.sign(KEY, SHA256()).public_bytes(Encoding.PEM) * times)
    key.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return Authority(str(cert), str(key))


def request(*names, subject=("jane",), critical=False):
    builder = x509.CertificateSigningRequestBuilder().subject_name(named(*subject))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=critical)
    return builder.sign(KEY, SHA256())


def signed(folder, csr, usages=(), **options):
    pem = authority(folder, **options).sign(csr, list(usages), HOUR, NOW)
    return x509.load_pem_x509_certificate(pem)


@pytest.mark.parametrize(
    ("life", "begin", "end"),
    [
        (HOUR, -5 * MINUTE, HOUR),
        (MINUTE, -5 * MINUTE, MINUTE),
        (8 * HOUR, -5 * MINUTE, 8 * HOUR - 5 * MINUTE),
        (20 * HOUR, -5 * MINUTE, 20 * HOUR - 5 * MINUTE),
        (48 * HOUR, -5 * MINUTE, DAY),
    ],
    ids=["short", "very short", "at the limit", "longer", "longer than the signer's"],
)
def test_it_begins_five_minutes_ago_and_a_short_one_lives_as_long_as_asked(life, begin, end):
    assert validity(life, NOW + DAY, NOW) == (NOW + begin, NOW + end)


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        (NOW, "refusing to sign a certificate that expired in the past: NotAfter="),
        (NOW - 4 * MINUTE, "refusing to sign a certificate that expired in the past: NotAfter="),
        (NOW - 5 * MINUTE, "the signer has expired: NotAfter="),
    ],
)
def test_an_expired_authority_signs_nothing(ended, why):
    with pytest.raises(ValueError, match=why):
        validity(HOUR, ended, NOW)


@pytest.mark.parametrize(
    ("usages", "bits", "purposes"),
    [
        ([], "", []),
        (["signing"], "03020780", []),
        (["client auth"], "", ["1.3.6.1.5.5.7.3.2"]),
        (["client auth", "client auth"], "", ["1.3.6.1.5.5.7.3.2"]),
        (["cert sign", "encipher only"], "03020005", []),
        (["decipher only", "key agreement"], "0303070880", []),
        (
            ["ocsp signing", "crl sign", "s/mime", "content commitment", "email protection"],
            "03020142",
            ["1.3.6.1.5.5.7.3.4", "1.3.6.1.5.5.7.3.9"],
        ),
    ],
)
def test_usages_are_bits_and_purposes_in_order(usages, bits, purposes):
    assert key_usages(usages) == (bytes.fromhex(bits), purposes)


def test_an_unknown_usage_is_refused():
    with pytest.raises(ValueError, match=r'unrecognized usage values: \["unsupported string"\]'):
        key_usages(["unsupported string", "signing"])


def test_the_bits_read_as_key_usage(tmp_path):
    usage = signed(tmp_path, request(), ["signing", "key encipherment"]).extensions.get_extension_for_class(
        x509.KeyUsage
    )

    assert (usage.critical, usage.value.digital_signature, usage.value.key_encipherment) == (True, True, True)
    assert not any((usage.value.content_commitment, usage.value.key_agreement, usage.value.key_cert_sign))


def test_a_certificate_signs_no_others(tmp_path):
    constraints = signed(tmp_path, request()).extensions.get_extension_for_class(x509.BasicConstraints)

    assert (constraints.critical, constraints.value.ca) == (True, False)


def test_the_authority_is_named_by_its_own_key_identifier(tmp_path):
    found = signed(tmp_path, request()).extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value

    assert found.key_identifier == b"an identifier of its own"


def test_an_authority_without_key_identifier_is_named_by_its_subject_alone(tmp_path):
    with pytest.raises(x509.ExtensionNotFound):
        signed(tmp_path, request(), identifier=b"").extensions.get_extension_for_class(x509.AuthorityKeyIdentifier)


@pytest.mark.parametrize(("subject", "critical"), [(("jane",), False), ((), True)])
def test_alternative_names_are_taken_over_and_critical_without_a_subject(tmp_path, subject, critical):
    other = x509.RegisteredID(x509.ObjectIdentifier("1.2.3"))
    csr = request(URI, other, x509.DNSName("n"), subject=subject, critical=not critical)

    names = signed(tmp_path, csr).extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME)

    assert (names.critical, list(names.value)) == (critical, [x509.DNSName("n"), URI])


def test_an_authority_is_one_certificate(tmp_path):
    with pytest.raises(ValueError, match="expected 1 certificate, found 2"):
        authority(tmp_path, times=2).check()


def test_a_key_that_is_none_is_said_at_the_start(tmp_path):
    own = authority(tmp_path)
    (tmp_path / "ca.key").write_text("no key")

    with pytest.raises(ValueError, match="error reading CA key file"):
        own.check()
