"""The calls of an exec network plugin."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import subprocess
import threading
from pathlib import Path

from hyperkube.hookspecs.network import NetworkFailed, PodNetwork, PodNetworkRequest
from hyperkube.machinery.errors import UsageError

NAMESPACE_VARIABLE = "POD_NETNS"
"""Where a program finds the path of the pod's network namespace; those of 1.x asked Docker for it."""


class ProgramRefused(Exception):
    """A call failed; the text is what the program wrote."""


def find_program(folder: Path, name: str) -> Path:
    """Return the program of a plugin, the only one if no name is given.

    Raises:
        UsageError: there is none, or no only one.
    """
    found = {}
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        program = place / place.name.rpartition("~")[2]
        if program.is_file() and os.access(program, os.X_OK):
            found[place.name.replace("~", "/")] = program
    known = ", ".join(found) or "none"
    if name and name not in found:
        raise UsageError(f"network plugin {name!r} not found in {str(folder)!r} (found: {known})")
    if not name and len(found) != 1:
        raise UsageError(f"--exec-network-plugin is needed: {str(folder)!r} has not one program (found: {known})")
    return found[name] if name else next(iter(found.values()))


class ExecNetwork:
    """Pods connected by one program; see `Network`."""

    needs_namespaces = True

    def __init__(self, program: Path, timeout_seconds: float) -> None:
        self._program = program
        self._timeout = timeout_seconds
        self._lock = threading.Lock()
        self._addresses: dict[str, PodNetwork] = {}

    def init(self) -> None:
        """Let the program prepare the node.

        Raises:
            UsageError: it refuses.
        """
        try:
            self._call("init", env={})
        except ProgramRefused as error:
            raise UsageError(f"network plugin {self._program.name!r} failed init: {error}") from error

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        """Let the program connect the pod, then ask it for the addresses.

        Raises:
            NetworkFailed: it refused, or told no address; what it has done is torn down.
        """
        with self._lock:
            known = self._addresses.get(pod.sandbox_id)
        if known is not None:
            return known
        try:
            self._pod_call("setup", pod)
            network = PodNetwork(_addresses(self._pod_call("status", pod)))
        except ProgramRefused as error:
            self._undo(pod)
            raise NetworkFailed(f"networkPlugin exec failed to set up pod: {error}") from error
        with self._lock:
            self._addresses[pod.sandbox_id] = network
        return network

    def _undo(self, pod: PodNetworkRequest) -> None:
        try:
            self._pod_call("teardown", pod)
        except ProgramRefused:
            return  # the error of setup is the one to tell

    def teardown(self, pod: PodNetworkRequest) -> None:
        """Let the program disconnect the pod.

        Raises:
            NetworkFailed: it refused.
        """
        try:
            self._pod_call("teardown", pod)
        except ProgramRefused as error:
            raise NetworkFailed(f"networkPlugin exec failed to teardown pod: {error}") from error
        with self._lock:
            self._addresses.pop(pod.sandbox_id, None)

    def status(self) -> str:
        """Return whether the program is still there; the protocol asks for pods only."""
        return "" if os.access(self._program, os.X_OK) else f"network plugin {self._program.name!r} is gone"

    def set_pod_cidr(self, cidr: str) -> None:
        """Do nothing: the program has ranges of its own."""

    def _pod_call(self, action: str, pod: PodNetworkRequest) -> str:
        env = {NAMESPACE_VARIABLE: pod.namespace_path}
        return self._call(action, pod.namespace, pod.name, pod.sandbox_id, env=env)

    def _call(self, *words: str, env: dict[str, str]) -> str:
        """Run the program to its end and return what it wrote; one that takes too long is killed with all it started.

        Raises:
            ProgramRefused: it failed.
        """
        try:
            process = subprocess.Popen(
                [self._program, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramRefused(f"{words[0]}: {error.strerror}") from error
        with process:
            try:
                said, _ = process.communicate(timeout=self._timeout)
            except subprocess.TimeoutExpired as error:
                raise ProgramRefused(f"{words[0]}: no answer in {self._timeout:g}s: killed") from error
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
        text = said.decode(errors="replace").strip()
        if process.returncode:
            raise ProgramRefused(f"{words[0]}: {text or f'exit status {process.returncode}'}")
        return text


def _addresses(text: str) -> tuple[str, ...]:
    """Return the address that a ``PodNetworkStatus`` tells.

    Raises:
        ProgramRefused: it tells none.
    """
    try:
        raw = json.loads(text)
        return (str(ipaddress.ip_address(raw["ip"])),)
    except (ValueError, KeyError, TypeError) as error:
        raise ProgramRefused(f"status: no address in {text[:200]!r}") from error
