"""A cloud provider that is built when it is first asked for: volumes and nodes may never need its credentials."""

from __future__ import annotations

import threading

from hyperkube_lib.cloud_provider.provider import CloudProvider

from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext


class LateCloud:
    """Builds the provider of a name once; thread-safe.

    Args:
        context: of the plugin that talks to the cloud.
        name: of the provider.
        flag: that names it, for people.
    """

    def __init__(self, context: PluginContext, name: str, flag: str) -> None:
        self._provider = CloudProvider(context)
        self._name, self._flag = name, flag
        self._lock = threading.Lock()
        self._cloud: Cloud | None = None

    def built(self) -> Cloud:
        """Return the provider.

        Raises:
            NoProvider: the cloud is known, and has none.
            PluginNotFound: it is not installed.
            UsageError: it is none.
        """
        with self._lock:
            if self._cloud is None:
                self._cloud = self._provider.build(self._name)
            if self._cloud is None:
                raise UsageError(f"{self._flag}: {self._name!r} is no cloud provider")
            return self._cloud

    def close(self) -> None:
        """Close the provider, if it was built."""
        self._provider.close()
