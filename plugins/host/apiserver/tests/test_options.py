"""The server's options: typed, complete, out of whatever flags have values."""

from dataclasses import FrozenInstanceError

import pytest
from hyperkube_host.apiserver.command import COMMAND
from hyperkube_host.apiserver.options import AggregationOptions, Options


def test_a_flag_that_is_missing_has_the_default_of_the_command_line():
    typed, missing = Options.of(COMMAND.parse([])), Options.of({})

    sections = [name for name, value in vars(missing).items() if type(value).__name__.endswith("Options")]
    differing = {
        name
        for section in sections
        for name, value in vars(getattr(missing, section)).items()
        if value != getattr(getattr(typed, section), name)
    }
    assert differing == {"allow_privileged", "bind_address", "service_account_issuer"}


def test_values_are_read_as_on_the_command_line():
    found = Options.of(
        {"request-timeout": "1m30s", "etcd-servers": "http://a,http://b", "service-cluster-ip-range": ["10.0.0.1/24"]}
    )

    assert found.requests.request_timeout == 90.0
    assert found.storage.etcd_servers == ("http://a", "http://b")
    assert found.control_plane.service_cluster_ip_range == "10.0.0.0/24"


def test_without_a_command_line_every_value_counts_as_given():
    assert Options.of({"profiling": False}).given == {"profiling"}
    assert Options.of(COMMAND.parse(["--profiling=false"])).given == {"profiling"}


@pytest.mark.parametrize("record", [Options.of({}), Options.of({}).address], ids=["options", "section"])
def test_options_cannot_be_changed(record):
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        record.x = 1
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del record.x


def test_a_record_has_its_fields_and_no_others():
    with pytest.raises(TypeError, match="AggregationOptions: unknown or missing fields: proxy_client_key_file, x"):
        AggregationOptions(proxy_client_cert_file="", x=1)
