"""What a server begins with: an older release's defaults, and lines with its version and flags."""

from __future__ import annotations

import logging

import pytest
from hyperkube_lib.component_base.compatibility import DEFAULTS, with_compat
from hyperkube_lib.component_base.flags import FLAGS
from hyperkube_lib.component_base.start import begin

from hyperkube.command.common_flags import GLOBAL
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.release import GIT_VERSION
from hyperkube.plugin.flags import INT, STRING, Flag, FlagValues

SERVER = "kube-scheduler"
OWN = (
    Flag("port", INT, 0, "a port", section="Own"),
    Flag("secure-port", INT, 10259, "a port", section="Own"),
    Flag("leader-elect", STRING, "true", "a choice", section="Own"),
    Flag("address", STRING, "127.0.0.1", "an address", section="Own"),
    Flag("password", STRING, "", "a secret", section="Own"),
)
ALL = (*OWN, *FLAGS, *GLOBAL)


@pytest.fixture(autouse=True)
def logging_as_before():
    root = logging.getLogger("hyperkube")
    handlers, level, propagate = root.handlers[:], root.level, root.propagate
    yield
    root.handlers[:], root.propagate = handlers, propagate
    root.setLevel(level)


def test_version_and_flags_are_logged(capsys):
    begin(SERVER, ALL, FlagValues.of(ALL, {"v": 2, "port": 7, "password": "hush"}))

    lines = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines[0] == f"Version: {GIT_VERSION}"
    assert 'FLAG: --port="7"' in lines
    assert 'FLAG: --password="CLASSIFIED"' in lines
    assert len(lines) == len(ALL) + 1


def test_a_wrong_feature_gate_ends_the_start():
    with pytest.raises(UsageError, match="unrecognized feature gate: Nonsense"):
        begin(SERVER, ALL, FlagValues.of(ALL, {"feature-gates": {"Nonsense": True}}))


@pytest.mark.parametrize(("release", "address"), [("1.0", "127.0.0.1"), ("1.5", "0.0.0.0")])
def test_an_older_release_has_other_defaults(release, address):
    values = with_compat(SERVER, FlagValues.of(ALL, {"compat": release, "secure-port": 1}))

    assert (values["port"], values["address"], values["secure-port"]) == (10251, address, 1)


def test_an_unknown_release_is_refused():
    with pytest.raises(UsageError, match=r"--compat='2\.0' is not known \(known: 1\.0, 1\.5\)"):
        with_compat(SERVER, FlagValues.of(ALL, {"compat": "2.0"}))


def test_a_server_that_the_release_did_not_have_is_refused():
    with pytest.raises(UsageError, match=r"^--compat='1\.5': that release has no cloud-controller-manager$"):
        with_compat("cloud-controller-manager", FlagValues.of(ALL, {"compat": "1.5"}))


def test_every_server_has_defaults_of_every_release():
    assert len({frozenset(servers) for servers in DEFAULTS.values()}) == 1
    assert len(DEFAULTS["1.0"]) == 5
