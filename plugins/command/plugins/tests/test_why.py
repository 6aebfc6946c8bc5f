"""Why a plugin is used: by the bundle, by a flag, or because it is installed."""

import pytest
from hyperkube_command.plugins import why
from hyperkube_command.plugins.catalog import InstalledPlugin
from hyperkube_command.plugins.why import flags_of, reasons

from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import INT, STRING, Flag
from hyperkube.plugin.loader import PluginLoadFailed


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


def server(monkeypatch, *, families=(), broken=""):
    """A server with two flags of its own, and one of a plugin if it loads some."""

    def load(_word):
        if broken:
            raise PluginLoadFailed(broken)
        return ServerCommand("kube-acme", "Acme.", "kube-acme", (PORT, PLACE), lambda _values: None, families)

    monkeypatch.setattr(why, "server_command", load)
    monkeypatch.setattr(ServerCommand, "all_flags", lambda self: (*self.flags, *([PLUGINS] if self.families else [])))


PORT, PLACE, PLUGINS = (
    Flag(name, kind, default, f"the {name}")
    for name, kind, default in (("port", INT, 1), ("place", STRING, ""), ("mode", STRING, ""))
)


def test_of_a_server_it_says_who_runs_it_and_how_many_flags_its_plugins_add(monkeypatch):
    server(monkeypatch, families=("volume", "network"))

    assert reasons(row("server", "kube-acme", enabled=True)) == [
        "used: hyperkube up runs it; hyperkube acme, or kube-acme, runs it on its own",
        "3 flags, 1 of them of plugins: kube-acme --help",
        "loads plugins of network, volume",
    ]
    assert flags_of(row("server", "kube-acme")) == [("port", "the port"), ("place", "the place")]


def test_a_server_that_up_does_not_run_has_a_command_of_its_own(monkeypatch):
    server(monkeypatch)

    assert reasons(row("server", "acme")) == [
        "not used by hyperkube up; hyperkube acme runs it on its own",
        "2 flags: acme --help",
    ]


def test_a_server_that_cannot_be_loaded_says_so_in_one_line(monkeypatch):
    server(monkeypatch, broken="server 'acme' of acme: No module named 'x'")

    assert reasons(row("server", "acme"))[1:] == [
        "its flags cannot be read: server 'acme' of acme: No module named 'x'"
    ]
    assert flags_of(row("server", "acme")) == []


def test_a_subcommand_is_run_by_its_word():
    assert reasons(row("command", "top", enabled=True)) == [
        "used: hyperkube top runs it, hyperkube top --help has its options"
    ]
