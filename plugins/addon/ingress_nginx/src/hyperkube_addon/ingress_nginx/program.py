"""nginx as a child process: new configurations are looked at before the running one is given up."""

from __future__ import annotations

import contextlib
import logging
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

_TIMEOUT = 60
END_SECONDS = 3.0
_WORKER = "www-data"


def worker_user() -> str:
    """Return the user of workers: Debian's for web servers where root starts them, else nobody else."""
    if os.geteuid() != 0:
        return ""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(_WORKER).pw_name
    return "nobody"


class Nginx:
    """One nginx with its files in one folder."""

    def __init__(self, folder: Path, logger: logging.Logger) -> None:
        self._folder = folder
        self._file, self._tried = folder / "nginx.conf", folder / "next.conf"
        self._logger = logger
        self._process: subprocess.Popen[bytes] | None = None

    def refusal(self, text: str, files: Mapping[str, bytes]) -> str:
        """Return why a configuration is refused, nothing if it is not; what runs goes on as it is."""
        for name, content in files.items():
            path = self._folder / name
            if not path.exists():
                path.touch(mode=0o600)
                path.write_bytes(content)
        self._tried.write_text(text)
        return self._check(self._tried)

    def apply(self, text: str, files: Mapping[str, bytes]) -> str:
        """Start with a configuration, or go over to it; return why it is refused, nothing if it is not.

        Connections and requests under way go on.
        """
        error = self.refusal(text, files)
        if error:
            return error
        self._tried.replace(self._file)
        for path in [*self._folder.glob("*.crt"), *self._folder.glob("*.key")]:
            if path.name not in files:
                path.unlink()
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGHUP)
            return ""
        if self._process is not None:
            self._logger.warning("nginx ended with exit code %d and is started again", self._process.returncode)
        self._process = subprocess.Popen(self._command(self._file), stdin=subprocess.DEVNULL)
        return ""

    def close(self) -> None:
        """End it: at once for who is idle, soon for all others."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGQUIT)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()

    def _check(self, file: Path) -> str:
        command = ["nginx", "-t", "-q", "-p", str(self._folder), "-c", str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return f"nginx: needs more than {_TIMEOUT} s to read it"
        return f"nginx: {done.stderr.strip()[:1000]}" if done.returncode else ""

    def _command(self, file: Path) -> list[str]:
        command = ["nginx", "-p", str(self._folder), "-c", str(file), "-g", "daemon off;"]
        # Should this process be killed, nginx goes as well.
        return ["setpriv", "--pdeathsig", "TERM", *command] if shutil.which("setpriv") else command
