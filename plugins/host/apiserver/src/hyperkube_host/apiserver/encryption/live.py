"""The encryption configuration of a running server: read at start, and with ``…-automatic-reload`` whenever it changes.

A change that is wrong is logged and changes nothing. Source: kubernetes apiserver
``pkg/server/options/encryptionconfig/controller``.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_host.apiserver.encryption.configuration import ProviderFactory, read_configuration
from hyperkube_host.apiserver.encryption.providers import Provider
from hyperkube_host.apiserver.options import StorageOptions

from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource

FILE_FLAG = "encryption-provider-config"
RELOAD_FLAG = "encryption-provider-config-automatic-reload"

POLL_SECONDS = 2.0
"""Time between two looks at the file; Kubernetes looks once a minute."""

logger = logging.getLogger("hyperkube.encryption")


class LiveRules:
    """The rules that hold now.

    Args:
        path: the file.
        clock: for the time between two looks.
        reload: whether to follow changes.
        helped: makes the providers that plugins have.

    Raises:
        UsageError: the file cannot be read or is wrong.
    """

    def __init__(self, path: str, clock: Clock, *, reload: bool, helped: ProviderFactory | None = None) -> None:
        self._path = path
        self._clock = clock
        self._seen = _digest(path)
        self._helped = helped
        self._rules = read_configuration(path, helped)
        self._reload = reload
        self._lock = threading.Lock()
        self._timer: Timer | None = None
        self._closed = False
        if reload:
            self._wait()

    def providers(self, resource: GroupResource) -> Sequence[Provider]:
        """Return the providers of a resource; none for one that is not encrypted."""
        return self._rules.providers(resource)

    def look(self) -> None:
        """Read the file again if it changed; what is wrong with it is logged, and the rules stay."""
        try:
            digest = _digest(self._path)
            if digest == self._seen:
                return
            self._seen = digest
            rules = read_configuration(self._path, self._helped)
        except UsageError as error:
            logger.warning("the encryption configuration was changed and is not followed: %s", error)
            return
        self._rules, old = rules, self._rules
        for provider in old.helped():
            provider.close()
        logger.info("the encryption configuration %r was read again", self._path)

    def checks(self) -> list[tuple[str, Callable[[], bool]]]:
        """Return the health checks of the providers that plugins made: one for all if these may change."""
        if self._reload:
            return [("kms-providers", lambda: all(provider.check() for provider in self._rules.helped()))]
        return [(f"kms-provider-{number}", provider.check) for number, provider in enumerate(self._rules.helped())]

    def close(self) -> None:
        """Follow no more changes, and end the providers; idempotent."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        for provider in self._rules.helped():
            provider.close()

    def _wait(self) -> None:
        with self._lock:
            if not self._closed:
                self._timer = self._clock.call_later(POLL_SECONDS, self._look_and_wait)

    def _look_and_wait(self) -> None:
        self.look()
        self._wait()


def live_rules(options: StorageOptions, clock: Clock, helped: ProviderFactory | None = None) -> LiveRules | None:
    """Return the rules of ``--encryption-provider-config``, None without it.

    Raises:
        UsageError: the file cannot be read or is wrong, or it is to be followed and there is none.
    """
    path = options.encryption_provider_config
    if not path:
        if options.encryption_provider_config_automatic_reload:
            raise UsageError(f"--{RELOAD_FLAG} must be set with --{FILE_FLAG}")
        return None
    return LiveRules(path, clock, reload=options.encryption_provider_config_automatic_reload, helped=helped)


def _digest(path: str) -> bytes:
    try:
        return hashlib.sha256(Path(path).read_bytes()).digest()
    except OSError as error:
        raise UsageError(f"encryption configuration {path!r} cannot be read: {error.strerror}") from error
