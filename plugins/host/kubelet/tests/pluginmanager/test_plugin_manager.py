"""Sockets in the registry folder become plugins; sockets that lie, hang or crash do not."""

import socket
import threading
import time

import pytest
from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginManager, PluginRefused, find_sockets
from hyperkube_lib.grpc_messages import GrpcServer
from hyperkube_lib.plugin_registration import registration_schema

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError


def until(condition, seconds=10):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


class Plugin:
    """A plugin at a socket that introduces itself."""

    def __init__(self, path, **info):
        self.told = []
        self.server = GrpcServer(threads=2)
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers = {"GetInfo": lambda _: info, "NotifyRegistrationStatus": self.told.append}
        self.server.add_service(registration_schema().service("Registration"), handlers)
        self.server.listen(str(path))
        self.server.start()
        self.path = path

    def stop(self):
        self.server.stop()
        self.path.unlink(missing_ok=True)


class Handler:
    """Takes every plugin but the one named ``bad``."""

    def __init__(self):
        self.calls = []

    def validate(self, name, endpoint, versions):
        if name == "bad":
            raise PluginRefused("bad indeed")
        if endpoint == "relative.sock":
            raise UsageError("endpoint 'relative.sock' is not a unix socket")

    def register(self, name, endpoint, versions):
        self.calls.append(("register", name, endpoint, *versions))

    def deregister(self, name, endpoint):
        self.calls.append(("deregister", name, endpoint))


@pytest.fixture
def rig(tmp_path):
    class Rig:
        folder = tmp_path / "plugins_registry"
        handler = Handler()

        def __init__(self):
            self.folder.mkdir()
            self.manager = PluginManager(self.folder, {"CSIPlugin": self.handler}, SystemClock())
            self.plugins = []

        def plugin(self, name, file="a.sock", kind="CSIPlugin", **more):
            made = Plugin(self.folder / file, type=kind, name=name, supported_versions=["1.0.0"], **more)
            self.plugins.append(made)
            return made

        def reconciled(self, condition):
            def again():
                self.manager.reconcile()
                return condition()

            until(again)

    made = Rig()
    made.handler.calls.clear()
    yield made
    made.manager.close()
    for plugin in made.plugins:
        plugin.stop()


def test_a_plugin_is_registered_when_its_socket_appears_and_deregistered_when_it_goes(rig):
    plugin = rig.plugin("one", file="vendor/a.sock", endpoint="/var/one.sock")

    rig.reconciled(lambda: plugin.told)
    plugin.stop()
    rig.reconciled(lambda: len(rig.handler.calls) > 1)

    assert plugin.told == [{"plugin_registered": True}]
    assert rig.handler.calls == [
        ("register", "one", "/var/one.sock", "1.0.0"),
        ("deregister", "one", "/var/one.sock"),
    ]


def test_a_plugin_that_names_no_endpoint_is_reached_at_its_socket(rig):
    plugin = rig.plugin("one")

    rig.reconciled(lambda: plugin.told)

    assert rig.handler.calls == [("register", "one", str(plugin.path), "1.0.0")]


@pytest.mark.parametrize(
    ("name", "kind", "error"),
    [("bad", "CSIPlugin", "bad indeed"), ("one", "Other", "no handler registered for plugin type: Other at socket")],
)
def test_a_refused_plugin_is_told_why(rig, name, kind, error):
    plugin = rig.plugin(name, kind=kind)

    rig.reconciled(lambda: plugin.told)

    assert plugin.told[0]["error"].startswith(error)
    assert rig.handler.calls == []


def test_a_plugin_whose_endpoint_is_none_is_told_and_retried_later(rig, caplog):
    plugin = rig.plugin("one", endpoint="relative.sock")

    rig.reconciled(lambda: plugin.told)
    until(lambda: "cannot be registered: endpoint 'relative.sock' is not a unix socket" in caplog.text)

    assert plugin.told[0]["error"] == "endpoint 'relative.sock' is not a unix socket"
    assert rig.handler.calls == []


def test_a_plugin_that_comes_back_is_registered_anew(rig):
    first = rig.plugin("one")
    rig.reconciled(lambda: first.told)
    first.stop()
    second = rig.plugin("one")

    rig.reconciled(lambda: second.told)

    assert [call[0] for call in rig.handler.calls] == ["register", "deregister", "register"]


def test_a_socket_that_hangs_keeps_no_other_plugin_waiting(rig):
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(rig.folder / "0-silent.sock"))
    silent.listen()
    good = rig.plugin("good", file="z.sock")

    rig.reconciled(lambda: good.told)

    silent.close()
    assert [call[1] for call in rig.handler.calls] == ["good"]


def test_a_socket_that_talks_nonsense_is_retried_later_and_later(rig):
    liar = socket.socket(socket.AF_UNIX)
    liar.bind(str(rig.folder / "liar.sock"))
    liar.listen()
    heard = []

    def talk():
        while True:
            try:
                connection, _ = liar.accept()
            except OSError:
                return
            heard.append(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 100)
            connection.close()

    threading.Thread(target=talk, daemon=True).start()

    rig.reconciled(lambda: heard)

    assert rig.handler.calls == []
    liar.close()


def test_only_sockets_in_plain_sight_count(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / ".hidden").mkdir()
    for place in ("a.sock", ".b.sock", ".hidden/c.sock"):
        made = socket.socket(socket.AF_UNIX)
        made.bind(str(tmp_path / place))
        made.close()
    (tmp_path / "link.sock").symlink_to(tmp_path / "a.sock")

    assert [path.name for path in find_sockets(tmp_path)] == ["a.sock"]
