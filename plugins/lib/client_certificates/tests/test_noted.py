"""Certificates that are believed because they were verified when they were made."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest
from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused, FrontProxy
from hyperkube_lib.client_certificates.noted import NotedCertificates, guarded_notes, notes_of
from hyperkube_lib.client_certificates.noting import note
from hyperkube_testing.peers.certificates import issue

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.users import UserInfo

NOW = FakeClock().now()
ROOT = issue("root", authority=True, days=100)
ALICE = issue("alice", by=ROOT)
USER = UserInfo("alice", "", ("system:authenticated",))


@pytest.fixture
def authority(tmp_path):
    path = tmp_path / "ca.crt"
    path.write_bytes(ROOT.pem)
    notes_of(path).write_bytes(note(path, [ALICE.pem], NOW))
    notes_of(path).chmod(0o600)
    return path


def user(authority, now=NOW, certificate=ALICE.der):
    return NotedCertificates(str(authority)).user(certificate, now)


def test_a_noted_certificate_names_its_user_as_a_verified_one_does(authority):
    assert user(authority) == USER == CertificateAuthorities(str(authority)).user([ALICE.der], NOW)


def test_another_certificate_of_the_same_name_is_not_noted(authority):
    assert user(authority, certificate=issue("alice", by=ROOT).der) is None


def test_a_note_ends_with_the_certificate(authority):
    assert user(authority, NOW + timedelta(days=1000)) is None
    with pytest.raises(CertificateRefused):
        CertificateAuthorities(str(authority)).user([ALICE.der], NOW + timedelta(days=1000))


def test_what_the_authority_has_not_signed_is_not_noted(authority):
    stranger = issue("alice", by=issue("other", authority=True))

    notes_of(authority).write_bytes(note(authority, [stranger.pem], NOW))

    assert user(authority, certificate=stranger.der) is None


def test_notes_end_when_the_authority_is_replaced(authority):
    noted = NotedCertificates(str(authority))
    before = noted.user(ALICE.der, NOW)

    authority.write_bytes(issue("another authority", authority=True).pem)

    assert (before, noted.user(ALICE.der, NOW)) == (USER, None)


@pytest.mark.parametrize("mode", [0o620, 0o602], ids=["group", "all"])
def test_notes_that_others_may_write_count_for_nothing(authority, mode):
    notes_of(authority).chmod(mode)

    assert user(authority) is None


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b'{"authority": 1, "certificates": {}}'])
def test_notes_of_another_shape_count_for_nothing(authority, text):
    notes_of(authority).write_bytes(text)

    assert user(authority) is None


def test_a_front_proxy_is_believed_by_its_note(authority):
    proxy = FrontProxy(str(authority), allowed_names=["alice"])
    other = FrontProxy(str(authority), allowed_names=["bob"])
    headers = {"x-remote-user": ["carol"]}

    assert proxy.user([ALICE.der], headers, NOW).name == "carol"
    with pytest.raises(CertificateRefused, match="none of --requestheader-allowed-names"):
        other.user([ALICE.der], headers, NOW)


def test_only_guarded_notes_are_handed_on(authority):
    text = notes_of(authority).read_text()
    handed = [guarded_notes(authority)]
    notes_of(authority).chmod(0o666)
    handed.append(guarded_notes(authority))
    notes_of(authority).unlink()
    handed.append(guarded_notes(authority))

    assert handed == [text, "", ""]


def test_without_notes_each_chain_is_verified(authority):
    notes_of(authority).unlink()

    assert user(authority) is None
    assert CertificateAuthorities(str(authority)).user([ALICE.der], NOW) == USER


def test_a_noted_certificate_is_believed_without_the_library_that_verifies(authority, tmp_path):
    (tmp_path / "leaf.der").write_bytes(ALICE.der)
    program = f"""
import sys
from datetime import datetime
from hyperkube_lib.client_certificates import CertificateAuthorities
authorities = CertificateAuthorities({str(authority)!r})
leaf = open({str(tmp_path / "leaf.der")!r}, "rb").read()
print(authorities.user([leaf], datetime.fromisoformat({NOW.isoformat()!r})).name, "cryptography" in sys.modules)
"""

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.split() == ["alice", "False"]
