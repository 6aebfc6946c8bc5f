"""`hyperkube up --watch`: plugins under development are loaded anew when their files change, and the cluster stays.

Who owns a plugin decides what is started anew: the API server for an admission plugin, the kubelet (its pods run on)
for a kind of volume. The store, the other servers and all clients' ports stay. What fails leaves the plugin as it was:
the modules of before come back.
"""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from hyperkube_command.local_cluster.restartable_part import RestartablePart
from hyperkube_command.local_cluster.watched_plugins import Consequence, consequence, plugins_in

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.failure_place import place_of
from hyperkube.plugin.loader import load_entry

STOP_SECONDS = 5.0
POLL_MILLISECONDS = 200
"""How long the watcher looks before it asks whether to end."""


class Reloader:
    """Loads the plugins of a folder anew, and starts anew what has them.

    Args:
        folder: with the sources of installed plugins.
        parts: word → server, and the addons.
        say: shows a line to the user.

    Raises:
        UsageError: no installed plugin comes from the folder.
    """

    def __init__(self, folder: Path, parts: Mapping[str, RestartablePart], say: Callable[[str], None]) -> None:
        self._folder = folder.resolve()
        self._parts = parts
        self._say = say
        self._plugins = plugins_in(self._folder)

    def notice(self) -> str:
        """Return a line for the user: what is watched."""
        names = ", ".join(f"{plugin.entry.name} ({plugin.family})" for plugin in self._plugins)
        return f"watching {self._folder}: {names}"

    def changed(self, files: Iterable[Path]) -> None:
        """Do what changed files ask for, and say how it went.

        Raises:
            UsageError: a server starts neither with the new plugins nor with the old ones.
        """
        follows = consequence(files, self._folder, self._plugins)
        for remark in follows.remarks:
            self._say(f"not reloaded: {remark}")
        if follows.servers:
            self._reload(follows)
            # What was closed is full of cycles, and a running server's collector comes for old objects very seldom.
            gc.collect()

    def _reload(self, follows: Consequence) -> None:
        clock = SystemClock()
        begun = clock.monotonic()
        old = self._take_out()
        restarted: list[str] = []
        try:
            with _no_bytecode():
                for plugin in follows.plugins:
                    load_entry(plugin.family, plugin.entry)
                for server in follows.servers:
                    restarted.append(server)
                    self._parts[server].restart()
        except Exception as error:  # noqa: BLE001  the author's code may raise anything; the line below says where
            self._say(f"not reloaded, the old one goes on: {_one_line(error)}{self._place(error)}")
            self._bring_back(old, restarted)
            return
        names = ", ".join(plugin.entry.name for plugin in follows.plugins) or "its roles"
        servers = ", ".join(follows.servers)
        self._say(f"reloaded {names}: {servers} started anew in {clock.monotonic() - begun:.1f} s")

    def _place(self, error: Exception) -> str:
        """Return where in a plugin's code it failed; a usage error says that itself."""
        if isinstance(error, UsageError):
            return ""
        return next((place for each in self._plugins if (place := place_of(error, each.entry.module))), "")

    def _bring_back(self, old: Mapping[str, ModuleType], restarted: Iterable[str]) -> None:
        self._take_out()
        sys.modules.update(old)
        for server in restarted:
            self._parts[server].restart()

    def _take_out(self) -> dict[str, ModuleType]:
        """Forget the modules that come from the folder, so that they are imported anew; return them."""
        found = {name: module for name, module in list(sys.modules.items()) if self._is_ours(module)}
        for name, module in found.items():
            del sys.modules[name]
            _forget_bytecode(module)
        importlib.invalidate_caches()
        return found

    def _is_ours(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        if not file or "site-packages" in file:
            return False
        return Path(file).resolve().is_relative_to(self._folder)


class FolderWatch:
    """Tells a reloader about changed files, on a thread of its own, from `start` to `close`.

    `lost` is called with one line if the reloader could leave no working server behind.
    """

    def __init__(self, folder: Path, reloader: Reloader, lost: Callable[[str], None]) -> None:
        self._folder = folder.resolve()
        self._reloader = reloader
        self._lost = lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Look no more; a reload under way is finished first."""
        self._stop.set()
        self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        from watchfiles import watch

        looking = watch(
            self._folder, stop_event=self._stop, rust_timeout=POLL_MILLISECONDS, raise_interrupt=False,
            ignore_permission_denied=True,
        )  # fmt: skip
        for changes in looking:
            try:
                self._reloader.changed({Path(name) for _, name in changes})
            except Exception as error:  # noqa: BLE001  it ends the cluster, with one line
                self._lost(f"cannot start anew: {_one_line(error)}")
                return


def _one_line(error: BaseException) -> str:
    text = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _forget_bytecode(module: ModuleType) -> None:
    """Remove bytecode: it counts as current where the source changed within a second and kept its length."""
    cached = getattr(module, "__cached__", None)
    if cached:
        with suppress(OSError):  # of a folder that is another user's: then it was not written by us either
            Path(cached).unlink(missing_ok=True)


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Write no bytecode, for the same reason."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
