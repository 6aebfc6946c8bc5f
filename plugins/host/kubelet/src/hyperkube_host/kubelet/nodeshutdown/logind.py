"""systemd's login manager over D-Bus: it tells of a shutdown before it happens, and waits for those that asked it to.

Sources: kubernetes ``pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go``; systemd's org.freedesktop.login1(5).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from hyperkube.machinery.errors import HyperkubeError

SYSTEM_BUS = "SYSTEM"
CONFIGURATION = Path("/etc/systemd/logind.conf.d/99-kubelet.conf")
CALL_SECONDS = 25.0
"""How long an answer may take; the usual limit of D-Bus."""
_LOGIND = ("/org/freedesktop/login1", "org.freedesktop.login1", "org.freedesktop.login1.Manager")
_SYSTEMD = ("/org/freedesktop/systemd1", "org.freedesktop.systemd1", "org.freedesktop.systemd1.Manager")
_SIGHUP = 1


class LogindFailed(HyperkubeError):
    """The login manager cannot be reached, or refused a call: the machine will not wait for the kubelet."""


class InhibitLock(Protocol):
    """As long as it is open, a shutdown waits; at most for the delay that the login manager is configured with."""

    def close(self) -> None:
        """Let the shutdown go on."""


class Logind(Protocol):
    """What the shutdown manager asks of the login manager; one thread calls all but `close`.

    All methods raise `LogindFailed`.
    """

    def inhibit_delay(self) -> float:
        """Return the seconds that a shutdown waits at most."""

    def raise_inhibit_delay(self, seconds: float) -> None:
        """Configure a longer delay, and have the configuration read."""

    def inhibit(self) -> InhibitLock:
        """Return a lock that delays shutdowns."""

    def shutdowns(self) -> Iterator[bool]:
        """Yield True for each shutdown that begins, False for each that is called off, until the connection ends."""

    def close(self) -> None:
        """End the connection, from any thread; idempotent."""


class DBusLogind:
    """The login manager of this machine."""

    def __init__(self, bus: str = SYSTEM_BUS, configuration: Path = CONFIGURATION) -> None:
        """Connect to a bus: the name of a well-known one, or an address.

        Raises:
            LogindFailed: it does not answer.
        """
        from jeepney import DBusAddress, MatchRule, message_bus
        from jeepney.io.blocking import Proxy, open_dbus_connection

        self._configuration = configuration
        self._is_read = False
        self._logind, self._systemd = (
            DBusAddress(path, bus_name=name, interface=interface) for path, name, interface in (_LOGIND, _SYSTEMD)
        )
        self._rule = MatchRule(type="signal", interface=_LOGIND[2], member="PrepareForShutdown", path=_LOGIND[0])
        with _failures("cannot reach the system bus"):
            self._connection = open_dbus_connection(bus, enable_fds=True)
        with _failures("cannot watch for shutdowns"):
            self._signals = self._connection.filter(self._rule, bufsize=16).queue
            Proxy(message_bus, self._connection, timeout=CALL_SECONDS).AddMatch(self._rule)

    def inhibit_delay(self) -> float:
        """Return the seconds that a shutdown waits at most."""
        from jeepney import Properties

        with _failures("failed reading InhibitDelayMaxUSec property from logind"):
            (variant,) = self._answer(Properties(self._logind).get("InhibitDelayMaxUSec"))
            return float(variant[1]) / 1e6

    def raise_inhibit_delay(self, seconds: float) -> None:
        """Write a file of the configuration, and have it read."""
        from jeepney import new_method_call

        try:
            self._configuration.parent.mkdir(parents=True, exist_ok=True)
            self._configuration.write_text(f"# Kubelet logind override\n[Login]\nInhibitDelayMaxSec={seconds:.0f}\n")
        except OSError as error:
            text = f"failed writing logind shutdown inhibit override file {self._configuration}: {error.strerror}"
            raise LogindFailed(text) from error
        call = new_method_call(self._systemd, "KillUnit", "ssi", ("systemd-logind.service", "all", _SIGHUP))
        with _failures("unable to reload logind conf"):
            self._answer(call)

    def inhibit(self) -> InhibitLock:
        """Return the lock: a descriptor that the login manager gave."""
        from jeepney import new_method_call

        words = ("shutdown", "kubelet", "Kubelet needs time to handle node shutdown", "delay")
        with _failures("failed creating systemd inhibitor"):
            lock: InhibitLock = self._answer(new_method_call(self._logind, "Inhibit", "ssss", words))[0]
            return lock

    def shutdowns(self) -> Iterator[bool]:
        """Yield what the signal PrepareForShutdown says."""
        self._is_read = True
        try:
            while True:
                with _failures("ended watching the node for shutdown events"):
                    message = self._connection.recv_until_filtered(self._signals)
                if message.body and isinstance(message.body[0], bool):
                    yield message.body[0]
        finally:
            self._connection.close()

    def close(self) -> None:
        """End the connection: a wait for a signal ends with it."""
        with suppress(OSError):  # it was closed before
            # Only this wakes a thread that reads, and closes nothing below it.
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        if not self._is_read:
            self._connection.close()

    def _answer(self, message: Any) -> Any:
        from jeepney.wrappers import unwrap_msg

        return unwrap_msg(self._connection.send_and_get_reply(message, timeout=CALL_SECONDS))


@contextmanager
def _failures(what: str) -> Iterator[None]:
    """Raise `LogindFailed` for what goes wrong on the bus."""
    from jeepney import DBusErrorResponse

    try:
        yield
    except (OSError, DBusErrorResponse, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise LogindFailed(f"{what}: {error}") from error
