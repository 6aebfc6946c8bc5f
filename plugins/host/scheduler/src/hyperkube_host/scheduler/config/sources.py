"""Where the scheduler's configuration comes from: a file, a policy in a file or ConfigMap, or a provider's name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from hyperkube_host.scheduler.config.configuration import Configuration, from_object, single
from hyperkube_host.scheduler.config.plugin_data import PluginTables
from hyperkube_host.scheduler.framework.runtime import FAMILY, plugin_class, provider_named
from hyperkube_host.scheduler.options import ConfigurationOptions

from hyperkube.client.client import Client
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin.defaults import default_plugin

POLICY_KEY = "policy.cfg"
FileStamp = tuple[int, int, int]
Made = TypeVar("Made")


class Source:
    """Reads the configuration, and knows when its file has changed since."""

    def __init__(self, options: ConfigurationOptions, client: Client | None) -> None:
        """Choose the source by the flags: the policy ConfigMap or file wins over the provider.

        Without a client no ConfigMap can be read.
        """
        self._options = options
        self._client = client
        self._config = options.config
        configmap = options.policy_configmap
        file = options.policy_file
        if configmap and options.use_legacy_policy and file:
            configmap = ""
        self._configmap = configmap
        self._policy = "" if configmap or self._config or not Path(file).is_file() else file
        if file and not (configmap or self._config or self._policy) and options.use_legacy_policy:
            raise UsageError(f"policy file {file!r} does not exist")
        self._seen: dict[str, FileStamp] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read, and watched for changes."""
        return tuple(path for path in (self._config, self._policy) if path)

    def read(self) -> Configuration:
        """Read everything.

        Raises:
            UsageError: it cannot be read, or is wrong; the message names the file.
        """
        self._seen = {path: _stamp_of(path) for path in self.files}
        scheduler_name = self._options.scheduler_name
        default = self._provider()
        if self._config:
            return _about(self._config, partial(from_object, _parsed(self._config), default, plugin_class))
        weight = self._options.hard_pod_affinity_weight
        if not (self._configmap or self._policy):
            return single(_with_hard_affinity(default, weight), scheduler_name)
        from hyperkube_host.scheduler.config.policy import from_policy  # of the 1.x line, which few clusters have

        content = self._policy_of_configmap() if self._configmap else _parsed(self._policy)
        policy = partial(from_policy, content, default, hard_affinity_weight=weight)
        about = f"ConfigMap {self._configmap}" if self._configmap else self._policy
        return single(_about(about, policy), scheduler_name)

    def changed(self) -> bool:
        """Tell whether a file is another one than when it was read last; a bad one is told once."""
        stamps = {path: _stamp_of(path) for path in self.files}
        if stamps == self._seen:
            return False
        self._seen = stamps
        return True

    def _provider(self) -> AlgorithmProvider:
        """Return the set that a file changes; where no usual one is installed, the file names all of the plugins."""
        name = self._options.algorithm_provider
        try:
            name = name or default_plugin(FAMILY, "algorithm-provider")
        except UsageError:
            if not self._config:
                raise
            return AlgorithmProvider(name="", queue_sort="", binds=())
        return provider_named(name, PluginContext(name=name, gates=self._options.gates))

    def _policy_of_configmap(self) -> Object:
        if self._client is None:
            raise UsageError(f"policy ConfigMap {self._configmap!r}: there is no API server to read it from")
        namespace = self._options.policy_configmap_namespace
        try:
            found = self._client.get(CONFIG_MAPS, self._configmap, namespace)
        except ApiError as error:
            raise UsageError(f"couldn't get policy config map {namespace}/{self._configmap}: {error}") from error
        text = (found.get("data") or {}).get(POLICY_KEY)
        if text is None:
            raise UsageError(f"missing policy config map value at key {POLICY_KEY!r}")
        return _decoded(text.encode(), f"ConfigMap {self._configmap}")


def _with_hard_affinity(provider: AlgorithmProvider, weight: int) -> AlgorithmProvider:
    """Return the set with the weight that required pod affinity implies.

    Raises:
        UsageError: a weight outside 0 to 100, with the text of 1.5.
    """
    if not 0 <= weight <= 100:
        raise UsageError(f"invalid hardPodAffinitySymmetricWeight: {weight}, must be in the range 0-100")
    if weight == 1:
        return provider
    settings = dict(provider.settings)
    for plugin, key in PluginTables.read().hard_pod_affinity_settings().items():
        if plugin in provider.plugin_names():
            settings[plugin] = {**settings.get(plugin, {}), key: weight}
    return replace(provider, settings=settings)


def _about(what: str, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{what}: not of the expected shape: {error!r}") from error


def _parsed(path: str) -> Object:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path!r}: {error.strerror}") from error
    return _decoded(data, path)


def _decoded(data: bytes, what: str) -> Object:
    from hyperkube.machinery.codecs.yaml import loads

    try:
        found, _ = loads(data)
    except ValueError as error:
        raise UsageError(f"{what}: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{what}: not an object")
    return found


def _stamp_of(path: str) -> FileStamp:
    try:
        status = Path(path).stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)
