"""Where the authority is found that is published."""

import pytest
from hyperkube_lib.root_certificates import RootCertificateSettings, root_certificate

from hyperkube.machinery.errors import UsageError


def test_the_flag_goes_first(tmp_path):
    file = tmp_path / "ca.crt"
    file.write_text("PEM")

    assert root_certificate(RootCertificateSettings(root_ca_file=str(file), kubeconfig="/no/such/file")) == "PEM"


def test_within_one_process_there_is_none_and_over_plain_http_an_empty_one():
    assert root_certificate(RootCertificateSettings()) is None
    assert root_certificate(RootCertificateSettings(master="http://127.0.0.1:8080")) == ""


def test_a_file_that_cannot_be_read_is_told_with_its_flag():
    with pytest.raises(UsageError, match=r"^--root-ca-file: cannot read"):
        root_certificate(RootCertificateSettings(root_ca_file="/no/such/file"))
