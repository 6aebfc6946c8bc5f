"""The commands of CNI on a network of chained programs.

Source: CNI ``libcni/api.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from hyperkube_lib.cni.cache import Attachment, AttachmentCache
from hyperkube_lib.cni.errors import CniError, ErrorCode, InvalidNetwork, ProgramFailed
from hyperkube_lib.cni.network_list import Configuration, NetworkList, at_least, parse_network, program_input
from hyperkube_lib.cni.program import TIMEOUT_SECONDS, Programs, RunProgram

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.field import quote

_log = logging.getLogger("hyperkube.cni")


class CniNetworks:
    """Adds containers to networks and takes them out; from several threads, for different containers."""

    def __init__(
        self,
        programs: RunProgram | Programs,
        cache: AttachmentCache,
        clock: Clock,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Give the programs of one command `timeout_seconds` together."""
        self._run = programs
        self._cache = cache
        self._clock = clock
        self._timeout = timeout_seconds

    def add(self, network: NetworkList, attachment: Attachment) -> Mapping[str, Any]:
        """Add a container; return the result of the last program, and remember it.

        Raises:
            CniError: nothing of it stays: the programs that had done their part have taken it back.
        """
        left = self._countdown()
        previous: Mapping[str, Any] | None = None
        try:
            for plugin in network.plugins:
                previous = self._call(network, plugin, "ADD", attachment, previous, left())
            added = _with(attachment, network, previous or {})
            self._cache.save(added)
        except (CniError, OSError) as error:
            self._undo(network, attachment)
            raise CniError(str(error)) from error
        return added.result

    def _undo(self, network: NetworkList, attachment: Attachment) -> None:
        """Take back what the programs of a failed ADD have done, with a time of their own."""
        left = self._countdown()
        for plugin in reversed(network.plugins):
            try:
                self._call(network, plugin, "DEL", attachment, None, left())
            except CniError as error:
                _log.warning("network %s: after a failed ADD: %s", network.name, error)
        self._cache.remove(_with(attachment, network, {}))

    def add_loopback(self, network: NetworkList, attachment: Attachment) -> None:
        """Bring the loopback interface up; there is nothing to remember of it, and nothing to take back.

        Raises:
            CniError: the program is missing, or failed.
        """
        loopback = replace(attachment, interface="lo", network=network.name)
        for plugin in network.plugins:
            self._call(network, plugin, "ADD", loopback, None, self._timeout)

    def delete(self, network: NetworkList, attachment: Attachment) -> None:
        """Take a container out of its network; no error if it is out already.

        Raises:
            CniError: a program failed; the others before it in the chain were not asked. It can be tried again.
        """
        left = self._countdown()
        previous = attachment.result if at_least(network.version, "0.4.0") and attachment.result else None
        for plugin in reversed(network.plugins):
            self._call(network, plugin, "DEL", attachment, previous, left())
        self._cache.remove(_with(attachment, network, {}))

    def check(self, network: NetworkList, attachment: Attachment) -> None:
        """Ask whether a container's interface is as the programs left it; nothing where that may not be asked.

        Raises:
            CniError: it is not.
        """
        if not network.checks or not at_least(network.version, "0.4.0"):
            return
        left = self._countdown()
        for plugin in network.plugins:
            self._call(network, plugin, "CHECK", attachment, attachment.result or None, left())

    def status(self, network: NetworkList) -> None:
        """Ask whether containers can be added now; versions before 1.1.0 do not say.

        Raises:
            ProgramFailed: they cannot; the text says why.
        """
        if not at_least(network.version, "1.1.0"):
            return
        left = self._countdown()
        for plugin in network.plugins:
            self._run(plugin["type"], "STATUS", {}, program_input(network, plugin, {}, None), left())

    def collect_garbage(self, network: NetworkList, stale: Iterable[Attachment], valid: Iterable[Attachment]) -> None:
        """Take out what is stale, then have the programs release all that is not valid.

        Raises:
            CniError: of all that failed; what could be done is done.
        """
        problems: list[str] = []
        for attachment in stale:
            try:
                self.delete(parse_network(attachment.configuration), attachment)
            except CniError as error:
                problems.append(str(error))
        if network.collects_garbage and at_least(network.version, "1.1.0"):
            kept = [{"containerID": one.container_id, "ifname": one.interface} for one in valid]
            left = self._countdown()
            for plugin in network.plugins:
                given = program_input(network, plugin, {}, None) | {"cni.dev/valid-attachments": kept}
                try:
                    self._run(plugin["type"], "GC", {}, given, left())
                except ProgramFailed as error:
                    problems.append(str(error))
        if problems:
            raise CniError("; ".join(problems))

    def validate(self, network: NetworkList) -> None:
        """Ask each program whether it speaks the network's version.

        Raises:
            CniError: one is not installed, or does not.
        """
        left = self._countdown()
        for name in network.types:
            version = {"cniVersion": network.version}
            answer = self._run(name, "VERSION", {}, version, left())
            supported = answer.get("supportedVersions") or ["0.1.0"]
            if network.version not in supported:
                text = f"plugin {name} does not support config version {quote(network.version)}"
                raise InvalidNetwork(text)

    def _call(
        self,
        network: NetworkList,
        plugin: Configuration,
        command: str,
        attachment: Attachment,
        previous: Mapping[str, Any] | None,
        timeout: float,
    ) -> Mapping[str, Any]:
        env = {
            "CNI_CONTAINERID": attachment.container_id,
            "CNI_NETNS": attachment.namespace_path,
            "CNI_IFNAME": attachment.interface,
            "CNI_ARGS": ";".join(f"{key}={value}" for key, value in attachment.arguments),
        }
        given = program_input(network, plugin, attachment.capabilities, previous)
        try:
            return self._run(plugin["type"], command, env, given, timeout)
        except ProgramFailed as error:
            if command == "DEL" and error.code == ErrorCode.UNKNOWN_CONTAINER:
                return {}
            failed = {"ADD": "add", "DEL": "delete", "CHECK": "check"}[command]
            text = f"plugin type={quote(plugin['type'])} name={quote(network.name)} failed ({failed}): {error}"
            raise ProgramFailed(text, error.code) from error

    def _countdown(self) -> Callable[[], float]:
        """Return what tells how many seconds are left of the time of a command that begins now."""
        end = self._clock.monotonic() + self._timeout
        return lambda: max(0.01, end - self._clock.monotonic())


def _with(attachment: Attachment, network: NetworkList, result: Mapping[str, Any]) -> Attachment:
    return replace(attachment, network=network.name, configuration=network.text, result=result)
