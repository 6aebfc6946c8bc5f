"""Configurations: which are valid, which is chosen, when they are read again."""

import json

import pytest
from hyperkube_lib.cni.configuration import ConfigurationFolder
from hyperkube_lib.cni.errors import CniError, InvalidNetwork
from hyperkube_lib.cni.network_list import parse_network, program_input


def network(**fields):
    return json.dumps({"name": "n", "cniVersion": "1.0.0", "plugins": [{"type": "bridge"}], **fields})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "error parsing configuration"),
        ("[]", "it is not an object"),
        (network(plugins=[]), "no plugins in list"),
        (network(plugins=[{}]), "missing 'type'"),
        (network(plugins=[{"type": "../bridge"}]), r"invalid plugin name: \.\./bridge"),
        (network(name=""), "no name"),
        (network(name="a/b"), "invalid characters found in network name: a/b"),
        (network(cniVersion="9.0.0"), "unsupported CNI version"),
        (network(disableCheck="perhaps"), "for disableCheck"),
    ],
)
def test_an_invalid_network_is_refused(text, problem):
    with pytest.raises(InvalidNetwork, match=problem):
        parse_network(text)


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        ({"cniVersion": "0.3.1"}, "0.3.1"),
        ({"cniVersion": ""}, "0.2.0"),
        ({"cniVersions": ["0.4.0", "1.1.0", "7.0.0"]}, "1.1.0"),
        ({"cniVersion": "1.1.0", "cniVersions": ["0.3.1"]}, "1.1.0"),
    ],
)
def test_the_newest_known_version_is_spoken(fields, version):
    assert parse_network(network(**fields)).version == version


def test_a_single_plugin_is_a_network():
    found = parse_network('{"name": "n", "type": "ptp", "ipam": {"type": "host-local"}}')

    assert (found.name, found.types) == ("n", ["ptp", "host-local"])


def test_a_program_is_told_what_it_understands():
    plugin = {"type": "portmap", "capabilities": {"portMappings": True, "dns": False}}
    found = parse_network(network(plugins=[plugin]))

    given = program_input(found, found.plugins[0], {"portMappings": [1], "dns": {}, "aliases": []}, {"ips": []})

    assert given == {
        **plugin,
        "name": "n",
        "cniVersion": "1.0.0",
        "runtimeConfig": {"portMappings": [1]},
        "prevResult": {"ips": []},
    }


def test_the_first_valid_file_is_chosen_and_changes_are_seen(tmp_path):
    asked = []

    def validate(found):
        asked.append(found.name)
        if found.name == "missing":
            raise CniError("no such program")

    folder = ConfigurationFolder(str(tmp_path), (), validate)
    assert folder.network() is None

    (tmp_path / "00-broken.conf").write_text("{")
    (tmp_path / "10-missing.conflist").write_text(network(name="missing"))
    (tmp_path / "20-good.conflist").write_text(network(name="good"))
    (tmp_path / "30-other.txt").write_text(network(name="other"))
    found = [folder.network(), folder.network()]
    assert [one.name for one in found] == ["good", "good"]
    assert asked == ["missing", "good"]

    (tmp_path / "05-better.conflist").write_text(network(name="better"))
    assert folder.network().name == "better"

    for path in tmp_path.iterdir():
        path.unlink()
    assert folder.network() is None
