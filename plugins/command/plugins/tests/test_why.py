"""Why a plugin is used: by the bundle, by a flag, or because it is installed."""

import pytest
from hyperkube_command.plugins import why
from hyperkube_command.plugins.catalog import InstalledPlugin
from hyperkube_command.plugins.why import reasons

from hyperkube.machinery.errors import UsageError


def row(family, name, *, enabled=False):
    return InstalledPlugin(family, name, "acme", "1", enabled)


@pytest.fixture(autouse=True)
def bundle(monkeypatch):
    """A bundle that enables one admission plugin, and no flags of plugins."""
    monkeypatch.setattr(why, "enabled_by_default", lambda family: ("A",) if family == "admission" else None)
    monkeypatch.setattr(why, "order", lambda family: ("A", "B") if family == "admission" else ())
    monkeypatch.setattr(why, "plugin_flags", lambda _host, _families: ())


def test_what_the_bundle_enables_is_switched_off_by_a_flag():
    assert reasons(row("admission", "A", enabled=True)) == [
        "used: the bundle 'hyperkube' enables it",
        "place 1 of 2 in the chain of its family",
        "switched off by --disable-admission-plugins=A",
    ]


def test_what_it_does_not_is_switched_on_by_another():
    assert reasons(row("admission", "C")) == [
        "not used: the bundle 'hyperkube' does not enable it",
        "switched on by --enable-admission-plugins=C (or a place in --admission-control)",
    ]


def test_of_some_families_one_is_taken(monkeypatch):
    monkeypatch.setattr(why, "default_plugin", lambda _family, _flag: "sqlite")
    monkeypatch.setattr(why, "installed", lambda _family: {"sqlite": None, "etcd": None})

    assert reasons(row("runtime", "sqlite")) == [
        "used: kubelet takes it unless --container-runtime names another; --container-runtime=etcd chooses another"
    ]
    assert reasons(row("runtime", "etcd")) == [
        "not used unless --container-runtime=etcd names it; the default is 'sqlite'"
    ]
    assert reasons(row("storage", "sqlite"))[0] == "used by hyperkube up, which names it by --storage-backend"


def test_without_a_default_it_must_be_named(monkeypatch):
    def none(_family, _flag):
        raise UsageError("--proxy-mode must name a proxier plugin")

    monkeypatch.setattr(why, "default_plugin", none)

    assert reasons(row("proxier", "p")) == ["not used unless --proxy-mode=p names it"]
