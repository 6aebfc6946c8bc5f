"""The pair that a server makes for itself: found again, and made anew when it has ended or is another's."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hyperkube_lib.serving import certificates
from hyperkube_lib.serving.serving_certificates import is_current, serving_pair

from hyperkube.machinery.clock import FakeClock

NAME = "apiserver"


@pytest.fixture
def pair(tmp_path):
    return tmp_path / f"{NAME}.crt", tmp_path / f"{NAME}.key"


def test_what_was_made_is_found_without_the_library_that_makes_it(tmp_path, pair):
    made = serving_pair(("", ""), tmp_path, NAME, dns=["localhost"], ips=["127.0.0.1"])
    before = pair[0].read_bytes()
    program = (
        "import sys; from pathlib import Path\n"
        "from hyperkube_lib.serving.serving_certificates import serving_pair\n"
        f"print(serving_pair(('', ''), Path({str(tmp_path)!r}), {NAME!r}, dns=['localhost'], ips=['127.0.0.1']))\n"
        "print('cryptography' in sys.modules)"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.splitlines() == [str(made), "False"]
    assert made == tuple(map(str, pair))
    assert pair[0].read_bytes() == before


def _lacks_key(cert, key):
    certificates.self_signed(NAME).write(cert, key)
    key.unlink()


def _has_ended(cert, key):
    certificates.self_signed(NAME, days=1, clock=FakeClock(datetime(2020, 1, 1, tzinfo=UTC))).write(cert, key)


def _is_no_certificate(cert, key):
    cert.write_text("no certificate")
    key.write_text("no key")


def _is_of_another(cert, key):
    certificates.self_signed("another").write(cert, key)


@pytest.mark.parametrize("make", [_lacks_key, _has_ended, _is_no_certificate, _is_of_another])
def test_what_is_none_of_its_own_or_has_ended_is_not_taken_for_current(pair, make):
    make(*pair)

    assert not is_current(*pair, NAME)


def test_a_pair_that_has_ended_is_made_anew(tmp_path, pair):
    _has_ended(*pair)
    before = pair[0].read_bytes()

    serving_pair(("", ""), tmp_path, NAME, dns=["localhost"], ips=["127.0.0.1"])

    assert pair[0].read_bytes() != before
    assert is_current(*pair, NAME)
