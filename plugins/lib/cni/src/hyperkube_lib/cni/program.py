"""Runs one program of CNI: its call in the environment and on standard input, its answer on standard output.

Sources: CNI ``SPEC.md`` sections 2 and 5, ``pkg/invoke/raw_exec.go`` (pluginErr), ``pkg/invoke/find.go``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hyperkube_lib.cni.errors import ProgramFailed

from hyperkube.machinery.field import quote

LONGEST_ANSWER = 1 << 20
TIMEOUT_SECONDS = 220.0
"""How long the programs of one command may take together; dockershim's figure."""


class RunProgram(Protocol):
    """Runs a program; the twin of tests has none."""

    def __call__(
        self, name: str, command: str, env: Mapping[str, str], given: Mapping[str, Any], timeout: float
    ) -> Mapping[str, Any]:
        """Return what the program `name` answers to a command; see `Programs`."""


class Programs:
    """The programs in some folders, the first of which wins."""

    def __init__(self, folders: Sequence[str]) -> None:
        self.folders = tuple(folders)

    def find(self, name: str) -> str:
        """Return the path of a program.

        Raises:
            ProgramFailed: there is none.
        """
        for folder in self.folders:
            path = Path(folder, name)
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
        raise ProgramFailed(f"failed to find plugin {quote(name)} in path [{' '.join(self.folders)}]")

    def __call__(
        self, name: str, command: str, env: Mapping[str, str], given: Mapping[str, Any], timeout: float
    ) -> Mapping[str, Any]:
        """Run a program to its end; return its answer, empty when it has none.

        Raises:
            ProgramFailed: it is not there, refused, answered nonsense, or did not end in `timeout` seconds. Then it
                is killed with all that it started.
        """
        path = self.find(name)
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("CNI_")}
        call = {"CNI_COMMAND": command, "CNI_PATH": os.pathsep.join(self.folders), **env}
        try:
            process = subprocess.Popen(
                [path],
                env=inherited | call,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramFailed(f"netplugin {quote(name)} could not be started: {error.strerror}") from error
        with process:
            out, err = _communicate(process, name, json.dumps(given).encode(), timeout)
        return _answer(name, process.returncode, out, err)


def _communicate(process: subprocess.Popen[bytes], name: str, given: bytes, timeout: float) -> tuple[bytes, bytes]:
    try:
        return process.communicate(given, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise ProgramFailed(f"netplugin {quote(name)} did not end in time: killed") from error
    finally:
        if process.returncode is None:  # its number is its own as long as it has not been waited for
            os.killpg(process.pid, signal.SIGKILL)


def _answer(name: str, code: int, out: bytes, err: bytes) -> Mapping[str, Any]:
    if len(out) > LONGEST_ANSWER:
        raise ProgramFailed(f"netplugin {quote(name)} answered more than {LONGEST_ANSWER} bytes")
    try:
        answer = json.loads(out) if out.strip() else {}
    except ValueError:
        answer = None
    if code != 0:
        raise _refusal(code, out, err, answer)
    if not isinstance(answer, dict):
        text = out.decode(errors="replace")[:200]
        raise ProgramFailed(f"netplugin {quote(name)} answered what is no result: {text!r}")
    return answer


def _refusal(code: int, out: bytes, err: bytes, answer: object) -> ProgramFailed:
    """Return the error of a program that failed: its own words, or else what it wrote."""
    if isinstance(answer, dict) and answer.get("msg"):
        details = answer.get("details")
        number = answer.get("code")
        text = f"{answer['msg']}; {details}" if details else str(answer["msg"])
        return ProgramFailed(text, number if isinstance(number, int) else 0)
    said = (err or out).decode(errors="replace").strip()[:1000]
    if said:
        return ProgramFailed(f"netplugin failed: {said!r}")
    how = f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    return ProgramFailed(f"netplugin failed with no error message: {how}")
