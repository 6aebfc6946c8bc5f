"""The login manager over a real bus of our own, with a login manager that does what it is told."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hyperkube_host.kubelet.nodeshutdown.logind import DBusLogind, LogindFailed
from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_return, new_signal
from jeepney.io.blocking import Proxy, open_dbus_connection

from hyperkube.kinds.resources import NODES
from hyperkube.testing.waiting import eventually

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).parents[1] / "rig.py")
rig_module = sys.modules.setdefault("kubelet_rig", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(rig_module)
MANAGER = DBusAddress("/org/freedesktop/login1", interface="org.freedesktop.login1.Manager")
CONFIGURATION = """<busconfig><type>session</type><listen>unix:path={0}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>"""

pytestmark = pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="needs dbus-daemon")


@pytest.fixture
def bus(tmp_path):
    (tmp_path / "bus.conf").write_text(CONFIGURATION.format(tmp_path))
    command = ["dbus-daemon", f"--config-file={tmp_path}/bus.conf", "--nofork", "--nopidfile"]
    daemon = subprocess.Popen(command)
    eventually((tmp_path / "bus").exists)
    yield f"unix:path={tmp_path}/bus"
    daemon.terminate()
    daemon.wait(10)


class Login:
    """Answers as the login manager and as systemd; `calls` is what it was asked, `refuses` what it does not answer."""

    def __init__(self, bus, refuses=(), delay=5):
        self.calls, self.locks, self._given, self._refuses, self._delay = [], [], [], refuses, delay
        self._connection = open_dbus_connection(bus, enable_fds=True)
        for name in ("org.freedesktop.login1", "org.freedesktop.systemd1"):
            Proxy(message_bus, self._connection).RequestName(name)
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self):
        while True:
            try:
                message = self._connection.receive()
            except OSError:
                return
            if message.header.message_type is MessageType.method_call:
                self._connection.send(self._reply(message))
                while self._given:
                    os.close(self._given.pop())  # what is sent is a copy

    def _reply(self, message):
        method = message.header.fields[HeaderFields.member]
        self.calls.append((method, message.body))
        if method in self._refuses:
            return new_error(message, "org.freedesktop.DBus.Error.AccessDenied", "s", ("no",))
        if method == "Get":
            return new_method_return(message, "v", (("t", self._delay * 1_000_000),))
        if method == "Inhibit":
            mine, given = os.pipe2(os.O_NONBLOCK)
            self.locks.append(mine)
            self._given.append(given)
            return new_method_return(message, "h", (given,))
        return new_method_return(message)

    def close(self):
        self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()
        for lock in self.locks:
            os.close(lock)

    def tell(self, *, shuts_down):
        self._connection.send(new_signal(MANAGER, "PrepareForShutdown", "b", (shuts_down,)))


@pytest.fixture
def login_on(bus):
    logins = []

    def serve(**given):
        logins.append(Login(bus, **given))
        return logins[-1]

    yield serve
    for login in logins:
        login.close()


def test_the_delay_is_read_and_raised(bus, login_on, tmp_path):
    login, file = login_on(), tmp_path / "logind.conf.d" / "99-kubelet.conf"
    logind = DBusLogind(bus, file)

    assert logind.inhibit_delay() == 5.0
    logind.raise_inhibit_delay(30.0)

    assert file.read_text() == "# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=30\n"
    assert login.calls == [
        ("Get", ("org.freedesktop.login1.Manager", "InhibitDelayMaxUSec")),
        ("KillUnit", ("systemd-logind.service", "all", 1)),
    ]
    logind.close()


def test_the_lock_is_a_descriptor_that_is_closed_to_let_the_shutdown_go_on(bus, login_on):
    login = login_on()
    logind = DBusLogind(bus)

    lock = logind.inhibit()

    assert login.calls == [("Inhibit", ("shutdown", "kubelet", "Kubelet needs time to handle node shutdown", "delay"))]
    assert os.fstat(lock.fileno())
    lock.close()
    logind.close()


def follow(logind, told):
    """Take down what is told; the connection's end comes last."""
    try:
        for one in logind.shutdowns():
            told.append(one)
    except LogindFailed as error:
        told.append(str(error))


def test_shutdowns_are_told_until_the_connection_ends(bus, login_on):
    login = login_on()
    logind, told = DBusLogind(bus), []

    follower = threading.Thread(target=follow, args=(logind, told))
    follower.start()
    login.tell(shuts_down=True)
    login.tell(shuts_down=False)
    eventually(lambda: told == [True, False])
    logind.close()
    follower.join(10)

    assert told[2].startswith("ended watching the node for shutdown events")


def test_what_is_refused_is_one_error(bus, login_on):
    login = login_on(refuses={"Inhibit"})
    logind = DBusLogind(bus)

    with pytest.raises(LogindFailed, match="failed creating systemd inhibitor"):
        logind.inhibit()

    assert login.calls
    logind.close()


def test_without_a_bus_there_is_one_error(tmp_path):
    with pytest.raises(LogindFailed, match="cannot reach the system bus"):
        DBusLogind(f"unix:path={tmp_path}/absent")


def test_a_kubelet_ends_its_pods_before_the_machine(bus, login_on, tmp_path, monkeypatch):
    pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus)
    login = login_on(delay=60)
    with rig_module.running(tmp_path / "kubelet", **{"shutdown-grace-period": "20s"}) as rig:
        rig.create("early", containers=[{"name": "c", "image": "i"}])
        rig.wait_phase("Running", "early")

        login.tell(shuts_down=True)
        status = rig.wait_phase("Failed", "early")
        rig.create("late", containers=[{"name": "c", "image": "i"}])
        late = rig.wait_phase("Failed", "late")
        eventually(lambda: is_released(login.locks[0]))
        node = eventually(lambda: not ready(rig) and rig.client.get(NODES, "n1"))

        assert (status["reason"], status["message"]) == (
            "Terminated", "Pod was terminated in response to imminent node shutdown.",
        )  # fmt: skip
        assert {one["type"]: one.get("reason") for one in status["conditions"]}["DisruptionTarget"] == (
            "TerminationByKubelet"
        )
        assert (late["reason"], late["message"]) == (
            "NodeShutdown", "Pod was rejected: Pod was rejected as the node is shutting down.",
        )  # fmt: skip
        assert node["status"]["conditions"][-1]["message"] == "node is shutting down"
        assert ("NodeShutdown", "Shutdown manager detected shutdown event") in rig.events()


def is_released(lock):
    """Tell whether the other end is closed: a read finds the end of the file."""
    try:
        return os.read(lock, 1) == b""
    except BlockingIOError:
        return False


def ready(rig):
    conditions = rig.client.get(NODES, "n1")["status"]["conditions"]
    return next(one["status"] for one in conditions if one["type"] == "Ready") == "True"
