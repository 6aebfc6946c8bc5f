"""The server's options: typed, complete, out of whatever flags have values."""

from dataclasses import fields

import pytest
from hyperkube_host.apiserver import options
from hyperkube_host.apiserver.command import COMMAND
from hyperkube_host.apiserver.options import Options

from hyperkube.command.server_command import parse


def test_a_flag_that_is_missing_has_the_default_of_the_command_line():
    typed, missing = Options.of(parse(COMMAND, [])), Options.of({})

    sections = [
        field.name for field in fields(Options) if hasattr(getattr(missing, field.name), "__dataclass_fields__")
    ]
    differing = {
        field.name
        for section in sections
        for field in fields(getattr(missing, section))
        if getattr(getattr(missing, section), field.name) != getattr(getattr(typed, section), field.name)
    }
    assert differing == {"bind_address", "service_account_issuer"}


def test_values_are_read_as_on_the_command_line():
    found = Options.of(
        {"request-timeout": "1m30s", "etcd-servers": "http://a,http://b", "service-cluster-ip-range": ["10.0.0.1/24"]}
    )

    assert found.requests.request_timeout == 90.0
    assert found.storage.etcd_servers == ("http://a", "http://b")
    assert found.control_plane.service_cluster_ip_range == "10.0.0.0/24"


def test_without_a_command_line_every_value_counts_as_given():
    assert Options.of({"profiling": False}).given == {"profiling"}
    assert Options.of(parse(COMMAND, ["--profiling=false"])).given == {"profiling"}


@pytest.mark.parametrize(
    "shape", [shape for shape in vars(options).values() if str(getattr(shape, "__name__", "")).endswith("Options")]
)
def test_options_cannot_be_changed(shape):
    assert shape.__dataclass_params__.frozen
