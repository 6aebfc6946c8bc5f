"""The validation of signing requests: one row for each rule, with the texts of Kubernetes."""

from base64 import b64encode
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hyperkube_api.certificates.validation import (
    validate_approval_update,
    validate_request,
    validate_request_update,
    validate_status_update,
)

KEY = ec.generate_private_key(ec.SECP256R1())
NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
REQUEST = x509.CertificateSigningRequestBuilder().subject_name(NAME).sign(KEY, hashes.SHA256())
CERTIFICATE = (
    x509.CertificateBuilder()
    .subject_name(NAME)
    .issuer_name(NAME)
    .public_key(KEY.public_key())
    .serial_number(1)
    .not_valid_before(datetime(2024, 1, 1, tzinfo=UTC))
    .not_valid_after(datetime(2034, 1, 1, tzinfo=UTC))
    .sign(KEY, hashes.SHA256())
).public_bytes(Encoding.PEM)


def text(data):
    return b64encode(data).decode()


def tampered():
    data = bytearray(REQUEST.public_bytes(Encoding.DER))
    data[-1] ^= 1
    return b"-----BEGIN CERTIFICATE REQUEST-----\n" + b64encode(bytes(data)) + b"\n-----END CERTIFICATE REQUEST-----\n"


def a_request(status=None, **spec):
    base = {
        "request": text(REQUEST.public_bytes(Encoding.PEM)),
        "usages": ["client auth"],
        "signerName": "example.com/a",
        **spec,
    }
    return {"metadata": {"name": "x"}, "spec": base, "status": status or {}}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@pytest.mark.parametrize(
    ("request_", "rows"),
    [
        (a_request(), []),
        (a_request(request=text(tampered())), ["spec.request Invalid x509: ECDSA verification failure"]),
        (a_request(usages=["client auth", "fly", "client auth"]), [
            "spec.usages[1] NotSupported", "spec.usages[2] Duplicate client auth",
        ]),
        (a_request(signerName="A_.com/x"), [f'spec.signerName Invalid validating label "A_": {LABEL}']),
        (a_request(signerName="a.com/x._"), [f'spec.signerName Invalid validating label "_": {SUBDOMAIN}']),
        (a_request(signerName="com/x"), [
            "spec.signerName Invalid should be a domain with at least two segments separated by dots",
        ]),
        (a_request(signerName="kubernetes.io/legacy-unknown"), [
            "spec.signerName Invalid the legacy signerName is not allowed via this API version",
        ]),
    ],
)  # fmt: skip
def test_a_new_request_that_breaks_a_rule_is_refused(request_, rows):
    assert [row if "NotSupported" not in row else row.partition(" supported")[0] for row in
            messages(validate_request(request_))] == rows  # fmt: skip


def test_what_is_stored_with_a_fault_may_keep_it():
    old = a_request(usages=["fly", "fly"], signerName="kubernetes.io/legacy-unknown")

    assert validate_request_update(old, old) == []


APPROVED = {"type": "Approved", "status": "True"}
DENIED = {"type": "Denied", "status": "True"}
NO_BLOCK = "status.certificate Invalid must contain at least one CERTIFICATE PEM block"


@pytest.mark.parametrize(
    ("check", "before", "after", "rows"),
    [
        (validate_approval_update, {}, {"conditions": [APPROVED, DENIED]}, [
            "status.conditions Invalid Approved and Denied conditions are mutually exclusive",
        ]),
        (validate_approval_update, {}, {"conditions": [APPROVED, APPROVED]}, [
            "status.conditions[1].type Duplicate Approved",
        ]),
        (validate_approval_update, {}, {"certificate": text(CERTIFICATE)}, [
            "status.certificate Forbidden updates may not set certificate content",
        ]),
        (validate_status_update, {"conditions": [APPROVED]}, {"conditions": [{**APPROVED, "reason": "r"}]}, [
            ('status.conditions Forbidden updates may not modify a condition of type "Approved"\n'
            '@@ -2,7 +2,7 @@\n  {\n   "Type": "Approved",\n   "Status": "True",\n-  "Reason": "",\n+  "Reason": "r",\n'
            '   "Message": "",\n   "LastUpdateTime": null,\n   "LastTransitionTime": null\n'),
        ]),
        (validate_status_update, {}, {"certificate": text(b"x")}, [NO_BLOCK]),
        (validate_status_update, {}, {"certificate": text(CERTIFICATE)}, []),
        (validate_status_update, {}, {"certificate": text(CERTIFICATE.replace(b"CERTIFICATE", b"X"))}, [
            'status.certificate Invalid only CERTIFICATE PEM blocks are allowed, found "X"',
        ]),
        (validate_status_update, {}, {"certificate": text(CERTIFICATE.replace(b"TE-----\n", b"TE-----\na: b\n\n", 1))}, [
            "status.certificate Invalid no PEM block headers are permitted",
        ]),
        (validate_status_update, {"certificate": text(CERTIFICATE)}, {"certificate": text(CERTIFICATE * 2)}, [
            "status.certificate Forbidden updates may not modify existing certificate content",
        ]),
    ],
)  # fmt: skip
def test_an_answer_that_breaks_a_rule_is_refused(check, before, after, rows):
    assert messages(check(a_request(after), a_request(before))) == rows
