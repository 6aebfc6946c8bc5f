"""``--lock-file``: one kubelet of a node at a time, and a provisional one that makes room for the next.

The second kubelet waits for the lock. With ``--exit-on-lock-contention`` the first ends as soon as another one opens
the file: so a node bootstraps itself with a kubelet that hands over to one that it started as a pod.
Source: kubernetes ``cmd/kubelet/app/server.go`` (run), ``server_linux.go`` (watchForLockfileContention).
"""

from __future__ import annotations

import ctypes
import fcntl
import logging
import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote

_IN_OPEN, _IN_DELETE_SELF, _IN_CLOEXEC = 0x20, 0x400, 0o2000000
_log = logging.getLogger("hyperkube.kubelet")


def check_lock_flags(path: str, *, exits_on_contention: bool) -> None:
    """Refuse to watch a file that is not named.

    Raises:
        UsageError: it is not.
    """
    if exits_on_contention and not path:
        raise UsageError("cannot exit on lock file contention: no lock file specified")


@contextmanager
def locked(path: str, pause: Callable[[], bool], contended: Callable[[], None] | None = None) -> Iterator[bool]:
    """Hold the lock while the block runs, after waiting for it; call `contended` once when another process wants it.

    Args:
        path: of the file, made if it is missing.
        pause: waits a moment between two tries and tells whether to give up; the block is then given False.
        contended: called on another thread.

    Raises:
        UsageError: the file cannot be opened or locked.
    """
    _log.info("acquiring file lock on %s", path)
    try:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"unable to acquire file lock on {quote(path)}: {error.strerror}") from error
    try:
        if not _lock(lock, pause):
            yield False
        elif contended is None:
            yield True
        else:
            with _watched(path, contended):
                yield True
    finally:
        os.close(lock)


def _lock(lock: int, pause: Callable[[], bool]) -> bool:
    """Lock a file; a lock that is waited for in the kernel could not be given up at a signal."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if pause():
                return False
        else:
            return True


@contextmanager
def _watched(path: str, contended: Callable[[], None]) -> Iterator[None]:
    libc = ctypes.CDLL(None, use_errno=True)
    notices = libc.inotify_init1(_IN_CLOEXEC)
    if notices < 0 or libc.inotify_add_watch(notices, os.fsencode(path), _IN_OPEN | _IN_DELETE_SELF) < 0:
        text = os.strerror(ctypes.get_errno())
        if notices >= 0:
            os.close(notices)
        raise UsageError(f"unable to watch lockfile {quote(path)}: {text}")
    woken, wake = os.pipe2(os.O_CLOEXEC)

    def wait() -> None:
        ready, _, _ = select.select([notices, woken], [], [])
        if notices in ready:
            _log.info("another kubelet wants the lock on %s: this one ends", path)
            contended()

    thread = threading.Thread(target=wait, name="lock-file", daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.close(wake)  # its end is what `select` sees
        thread.join()
        os.close(woken)
        os.close(notices)
