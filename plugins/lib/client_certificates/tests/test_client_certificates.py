"""Who may vouch for a client: chains that lead to an authority, and those that only look like it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography import x509
from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused
from hyperkube_testing.peers.certificates import issue

from hyperkube.machinery.clock import FakeClock

NOW = FakeClock().now()
ROOT = issue("root", authority=True, days=100)
SHORT = issue("short", authority=True, days=100, path_length=0)
CONSTRAINED = issue("constrained", authority=True, critical=[x509.NameConstraints([x509.DNSName("example.org")], None)])
NO_SIGNER = issue(
    "no-signer",
    authority=True,
    critical=[
        x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=False,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
    ],
)
SERVERS_ONLY = issue(
    "servers", authority=True, critical=[x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH])]
)
NO_AUTHORITY = issue("leaf-as-root")
ROOTS = [ROOT, SHORT, CONSTRAINED, NO_SIGNER, SERVERS_ONLY, NO_AUTHORITY]


@pytest.fixture
def authorities(tmp_path):
    path = tmp_path / "ca.crt"
    path.write_bytes(b"".join(root.pem for root in ROOTS))
    return CertificateAuthorities(str(path))


def below(root, *middles):
    chain = [root]
    for name in middles:
        chain.append(issue(name, by=chain[-1], authority=True))
    chain.append(issue("alice", by=chain[-1]))
    return chain[:0:-1]


@pytest.mark.parametrize(
    "chain",
    [
        lambda: below(ROOT),
        lambda: below(ROOT, "one"),
        lambda: below(ROOT, "one", "two"),
        lambda: below(SHORT),
        lambda: below(CONSTRAINED),
        lambda: [NO_AUTHORITY],
    ],
    ids=["directly", "over one", "over two", "as far as the length goes", "a name no constraint is about", "itself"],
)
def test_these_are_vouched_for(authorities, chain):
    issued = chain()

    leaf = authorities.verify([certificate.der for certificate in issued], NOW)

    assert leaf == issued[0].certificate


@pytest.mark.parametrize(
    "chain",
    [
        lambda: below(SHORT, "one"),
        lambda: below(NO_SIGNER),
        lambda: below(SERVERS_ONLY),
        lambda: below(NO_AUTHORITY),
        lambda: [issue("alice", by=CONSTRAINED, critical=[x509.SubjectAlternativeName([x509.DNSName("evil.org")])])],
        lambda: [
            issue(
                "alice", by=ROOT, critical=[x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")]
            )
        ],
        lambda: below(ROOT, "1", "2", "3", "4", "5", "6"),
        lambda: below(issue("root", authority=True)),
    ],
    ids=[
        "further than the length goes",
        "may not sign certificates",
        "for servers",
        "no authority",
        "other names",
        "a critical extension",
        "endless",
        "another authority of the same name",
    ],
)
def test_these_prove_nothing(authorities, chain):
    with pytest.raises(CertificateRefused):
        authorities.verify([certificate.der for certificate in chain()], NOW)


@pytest.mark.parametrize("days", [100, 30], ids=["the leaf's end", "that between's end"])
def test_a_chain_that_was_vouched_for_is_looked_at_again_when_a_certificate_of_it_is_out_of_date(authorities, days):
    middle = issue("middle", by=ROOT, authority=True, days=days)
    leaf = issue("alice", by=middle, days=50)
    chain, end = [leaf.der, middle.der], min(days, 50)
    authorities.verify(chain, NOW)

    assert authorities.verify(chain, NOW + timedelta(days=end - 1)) == leaf.certificate
    for moment in (NOW + timedelta(days=end + 1), NOW - timedelta(days=1000)):
        with pytest.raises(CertificateRefused):
            authorities.verify(chain, moment)


def test_a_chain_that_was_vouched_for_proves_nothing_to_other_authorities_in_the_same_file(tmp_path):
    path = tmp_path / "ca.crt"
    path.write_bytes(ROOT.pem)
    authorities = CertificateAuthorities(str(path))
    chain = [certificate.der for certificate in below(ROOT)]
    authorities.verify(chain, NOW)

    path.write_bytes(SHORT.pem + CONSTRAINED.pem)

    with pytest.raises(CertificateRefused):
        authorities.verify(chain, NOW)


def test_a_chain_that_was_vouched_for_is_not_checked_again(authorities, monkeypatch):
    chains = [[certificate.der for certificate in below(ROOT)] for _ in range(70)]
    checked = []
    monkeypatch.setattr("cryptography.x509.load_der_x509_certificate", counted(checked))

    for chain in [chains[0], chains[0], *chains, chains[-1], chains[0]]:
        authorities.verify(chain, NOW)

    assert checked == [chains[0][0], *(chain[0] for chain in chains[1:]), chains[0][0]]


def counted(checked):
    def load(der):
        checked.append(der)
        return x509_load(der)

    return load


x509_load = x509.load_der_x509_certificate
