"""Pod certificate requests: what they must name and prove, for how long they may ask, and the signer's answer."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from hyperkube_api.certificates.pod_certificate_requests import PodCertificateRequestStrategy, state

from hyperkube.hookspecs.authz import NO_OPINION, Decision
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.times import format_time
from hyperkube.machinery.users import UserInfo

KEY = ed25519.Ed25519PrivateKey.generate()
CURVE = ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def stub(key=KEY):
    digest = None if key is KEY else hashes.SHA256()
    return x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, digest)


def encoded(data):
    return b64encode(data).decode()


def der(request):
    return encoded(request.public_bytes(serialization.Encoding.DER))


def pkix(key):
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return encoded(key.public_key().public_bytes(serialization.Encoding.DER, form))


SPEC = {
    "signerName": "example.com/signer",
    "podName": "p",
    "podUID": "u1",
    "serviceAccountName": "default",
    "serviceAccountUID": "u2",
    "nodeName": "n",
    "nodeUID": "u3",
    "maxExpirationSeconds": 86400,
    "stubPKCS10Request": der(stub()),
}


def errors(**changed):
    spec = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    return [str(error) for error in PodCertificateRequestStrategy().validate(None, {"spec": spec})]


def test_a_whole_request_is_fine():
    assert errors() == []


@pytest.mark.parametrize("member", ["podName", "podUID", "serviceAccountName", "nodeName", "nodeUID", "signerName"])
def test_what_is_missing_is_told(member):
    assert [text.partition(":")[0] for text in errors(**{member: None})] == [f"spec.{member}"]


@pytest.mark.parametrize(
    ("signer", "seconds", "bad"),
    [
        ("example.com/signer", 3599, True),
        ("example.com/signer", 3600, False),
        ("example.com/signer", 91 * 86400, False),
        ("example.com/signer", 91 * 86400 + 1, True),
        ("kubernetes.io/signer", 86400, False),
        ("kubernetes.io/signer", 86401, True),
    ],
)
def test_a_certificate_lives_an_hour_to_three_months_and_one_of_kubernetes_a_day(signer, seconds, bad):
    assert bool(errors(signerName=signer, maxExpirationSeconds=seconds)) is bad


def test_the_specification_never_changes():
    strategy = PodCertificateRequestStrategy()

    assert strategy.validate_update(None, {"spec": SPEC}, {"spec": SPEC}) == []
    assert strategy.validate_update(None, {"spec": {**SPEC, "podName": "q"}}, {"spec": SPEC})


def test_the_first_condition_that_holds_is_the_state():
    assert state({}) == "Pending"
    assert state({"status": {"conditions": [{"type": "Denied", "status": "True"}]}}) == "Denied"


def bare(key, proof):
    return {"stubPKCS10Request": None, "pkixPublicKey": pkix(key), "proofOfPossession": encoded(proof)}


def test_kubelets_before_1_36_prove_their_key_by_a_signature_of_the_pods_uid():
    assert errors(**bare(KEY, KEY.sign(b"u1"))) == []
    assert errors(**bare(CURVE, CURVE.sign(b"u1", ec.ECDSA(hashes.SHA256())))) == []
    assert errors(**bare(CURVE, b"x")) == [
        "spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature"
    ]


BROKEN = encoded(stub().public_bytes(serialization.Encoding.DER)[:-4] + b"fake")
ONE_FORM = "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"stubPKCS10Request": None}, ONE_FORM),
        ({"pkixPublicKey": pkix(KEY)}, ONE_FORM),
        ({"stubPKCS10Request": "AAAA"}, "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"),
        (
            {"stubPKCS10Request": BROKEN},
            "spec.stubPKCS10Request: Invalid value: could not verify the signature of the CSR",
        ),
        (
            {"stubPKCS10Request": der(stub(RSA))},
            'spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
        ),
        (
            {"stubPKCS10Request": encoded(bytes(10241))},
            "spec.stubPKCS10Request: Too long: may not be more than 10240 bytes",
        ),
        (
            {**bare(RSA, RSA.sign(b"u1", padding.PKCS1v15(), hashes.SHA256()))},
            'spec.pkixPublicKey: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
        ),
        (
            {"unverifiedUserAnnotations": {"plain": ""}},
            'spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as "acme.io/foo")',
        ),
    ],
    ids=["none", "both", "garbage", "signature", "size", "too-long", "bare-size", "annotation"],
)
def test_a_request_brings_one_key_and_proves_it(changed, error):
    assert errors(**changed) == [error]


def certificate(key=KEY, begin=NOW, end=NOW + 24 * HOUR, names=()):
    builder = x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(x509.Name([])).serial_number(1)
    builder = builder.not_valid_before(begin).not_valid_after(end).public_key(key.public_key())
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(list(map(x509.DNSName, names))), critical=False)
    return builder.sign(CURVE, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def answer(kind="Issued", **status):
    stamp = format_time(NOW)
    condition = {"type": kind, "status": "True", "reason": "R", "lastTransitionTime": stamp}
    return {"conditions": [condition], **{name: value for name, value in status.items() if value is not None}}


def issued(chain=None, **changed):
    times = {"notBefore": NOW, "notAfter": NOW + 24 * HOUR, "beginRefreshAt": NOW + 12 * HOUR, **changed}
    shown = {name: format_time(time) for name, time in times.items() if time is not None}
    return answer(certificateChain=certificate() if chain is None else chain, **shown)


class Call(SimpleNamespace):
    """A request of a signer that may sign for ``signers``."""

    def __init__(self, *signers):
        allowed = lambda asked: Decision("allow") if (asked.verb, asked.name) in signers else NO_OPINION  # noqa: E731
        authorizer = SimpleNamespace(authorize=allowed)
        super().__init__(user=UserInfo("bob"), clock=FakeClock(NOW), authorizer=authorizer)


SIGNER = Call(("sign", "example.com/*"))


def status_errors(status, old=None, call=SIGNER):
    objects = [{"spec": SPEC, "status": each or {}} for each in (status, old)]
    return [str(error) for error in PodCertificateRequestStrategy().validate_status_update(call, *objects)]


@pytest.mark.parametrize("status", [issued(), issued(certificate() + certificate(CURVE)), answer("Denied")])
def test_a_request_is_answered_once(status):
    assert status_errors(status) == []
    assert status_errors(status, status) == []
    (error,) = status_errors(answer("Failed"), status)
    assert error == "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ({"certificateChain": "x"}, "status is immutable unless transitioning to"),
        (answer("Denied", certificateChain="x"), "non-condition status fields must be empty when denying or failing"),
        (answer("Approved"), 'status.conditions[0].type: Unsupported value: "Approved"'),
        (issued(""), "issued certificate chain must contain at least one certificate"),
        (issued(certificate().replace("CERTIFICATE", "KEY")), "must consist entirely of CERTIFICATE PEM blocks"),
        (issued(certificate(CURVE)), "leaf certificate was not issued to the requested public key"),
        (issued(certificate(names=["a..b"])), "leaf certificate's DNSName should not contain '..'"),
        (issued(notBefore=None), "status.notBefore: Required value: must be present and consistent"),
        (issued(notBefore=NOW + MINUTE), "must be set to the NotBefore time encoded in the leaf certificate"),
        (issued(notAfter=NOW + HOUR), "must be set to the NotAfter time encoded in the leaf certificate"),
        (
            issued(certificate(begin=NOW - 6 * MINUTE), notBefore=NOW - 6 * MINUTE),
            "must be set to within 5 minutes of kube-apiserver's current time",
        ),
        (
            issued(certificate(end=NOW + HOUR - MINUTE), notAfter=NOW + HOUR - MINUTE),
            "leaf certificate lifetime must be >= 1 hour",
        ),
        (
            issued(certificate(end=NOW + 25 * HOUR), notAfter=NOW + 25 * HOUR),
            "leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)",
        ),
        (issued(beginRefreshAt=NOW + 9 * MINUTE), "must be at least 10 minutes after status.notBefore"),
        (issued(beginRefreshAt=NOW + 24 * HOUR - 9 * MINUTE), "must be at least 10 minutes before status.notAfter"),
    ],
)
def test_a_wrong_answer_is_told(status, error):
    assert any(error in text for text in status_errors(status))


def test_a_signer_needs_the_right_to_sign():
    assert status_errors(issued(), call=Call(("sign", "example.com/signer"))) == []
    assert status_errors(issued(), call=Call()) == [
        'spec.signerName: Forbidden: User "bob" is not permitted to "sign" for signer "example.com/signer"'
    ]
    assert status_errors(answer("Denied"), call=Call()) == []


def test_conditions_are_dated_and_then_stay():
    strategy, call = PodCertificateRequestStrategy(), Call()
    first = {"status": {"conditions": [{"type": "Denied", "status": "True", "reason": "R"}]}}

    strategy.prepare_status_update(call, first, {})
    again = {"status": {"conditions": [{"type": "Denied", "status": "True", "reason": "other"}]}}
    strategy.prepare_status_update(call, again, first)

    assert first["status"]["conditions"][0]["lastTransitionTime"] == format_time(NOW)
    assert again == first
