"""console: the cluster in a web browser, at a local address that `hyperkube up` prints.

The holder of the printed link is the owner of the data folder, and acts with the rights of its kubeconfig; the link
works once. The next one is kept in the data folder, where this user of the machine alone can read it.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube.client import kubeconfig
from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_lib.console.server import Console

URL_FILE = "console.url"


class Settings(Record):
    """Which cluster, and where to listen.

    Attributes:
        kubeconfig: of the console's owner.
        data_dir: where the next link is kept; empty for nowhere.
        console_port: 0 for any that is free.
    """

    kubeconfig: str = ""
    data_dir: str = ""
    console_port: int = 0


class ConsoleAddon(Plugin):
    """Serves the console from within the cluster's process."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._console: Console | None = None

    def start(self) -> None:
        """Listen; pages are imported when the first is asked for."""
        from hyperkube_lib.console.server import Console

        if not self._settings.kubeconfig:
            self.context.logger.info("no kubeconfig was given: the console is not served")
            return
        console = Console(self._access, self.context.clock, port=self._settings.console_port, changed=self._keep)
        try:
            console.start()
        except UsageError as error:
            self.context.logger.warning("the console is not served: %s", error)
        else:
            self._console = console

    def _access(self) -> kubeconfig.Access:
        return kubeconfig.resolve(kubeconfig.read(self._settings.kubeconfig))

    @hookimpl
    def addon_notice(self) -> str:
        """Return the link."""
        return f"console: {self._console.url}" if self._console is not None else ""

    @hookimpl
    def addon_start(self) -> None:
        """Nothing is left to do: the listener, which `start` has opened, has the one thread that the console needs."""

    def close(self) -> None:
        """Serve no more."""
        if self._console is not None:
            self._console.close()
            with contextlib.suppress(OSError):
                self._file().unlink(missing_ok=True)

    def _file(self) -> Path:
        return Path(self._settings.data_dir, URL_FILE)

    def _keep(self, url: str) -> None:
        """Write down the next link, for this user of the machine only."""
        if not self._settings.data_dir:
            return
        descriptor = os.open(self._file(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{url}\n")
