"""A server's certificate that another process makes."""

import os
import ssl
import threading
from datetime import timedelta

import pytest
from cryptography import x509
from hyperkube_lib.serving.certificates_apart import AUTHORITY, CERTIFICATE, KEY, in_a_child, issue_apart

from hyperkube.machinery.clock import FakeClock

NOW = FakeClock().now()


def test_the_pair_serves_for_its_names_and_its_authority_has_signed_it(tmp_path):
    issue_apart(tmp_path, "metrics", dns=["metrics.svc", "localhost"], address="127.0.0.1", now=NOW)

    leaf = x509.load_pem_x509_certificate((tmp_path / CERTIFICATE).read_bytes())
    authority = x509.load_pem_x509_certificate((tmp_path / AUTHORITY).read_bytes())
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    leaf.verify_directly_issued_by(authority)
    assert names.get_values_for_type(x509.DNSName) == ["metrics.svc", "localhost"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert leaf.not_valid_before_utc <= NOW < leaf.not_valid_before_utc + timedelta(minutes=10)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tmp_path / CERTIFICATE, tmp_path / KEY)
    assert (tmp_path / KEY).stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_made_is_told_in_one_line(tmp_path):
    (tmp_path / CERTIFICATE).mkdir()

    with pytest.raises(OSError, match=r"^cannot make a certificate for 'metrics': \w+Error: [^\n]+$"):
        issue_apart(tmp_path, "metrics", dns=[], address="127.0.0.1", now=NOW)


def test_a_child_makes_what_a_process_of_one_thread_wants(tmp_path, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)

    in_a_child(lambda: (tmp_path / "maker").write_text(str(os.getpid())))

    assert int((tmp_path / "maker").read_text()) != os.getpid()


def test_beside_other_threads_it_is_made_right_here(tmp_path, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 2)

    in_a_child(lambda: (tmp_path / "maker").write_text(str(os.getpid())))

    assert int((tmp_path / "maker").read_text()) == os.getpid()


def test_what_fails_in_the_child_is_raised_here(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)

    with pytest.raises(ZeroDivisionError):
        in_a_child(lambda: 1 // 0)
