"""Where a node's pods come from: the API, a folder of manifests, a URL.

Sources: kubernetes ``pkg/kubelet/config/{apiserver,file,http,common}.go``.
"""

from __future__ import annotations

import copy
import hashlib
import logging
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import orjson
import yaml
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pod_entry import HASH_ANNOTATION, SOURCE_ANNOTATION

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.pods import containers, default_requests
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.times import format_time

_HTTP_SECONDS = 10.0


class PodSink(Protocol):
    """Who wants to know the pods."""

    def put(self, pod: Object) -> None:
        """Learn of a new or changed pod."""

    def remove(self, pod: Object) -> None:
        """Learn that its source has a pod no more."""


class ApiSource:
    """The pods that the API has bound to the node."""

    def __init__(self, client: Client, clock: Clock, node_name: str, sink: PodSink) -> None:
        self._informer = Informer(client, clock, PODS, field_selector=f"spec.nodeName={node_name}")
        self._informer.add_handler(sink.put, lambda _old, new: sink.put(new), sink.remove)

    def start(self) -> None:
        """Begin to watch."""
        self._informer.start()

    def ready(self) -> bool:
        """Tell whether all pods are known."""
        return self._informer.has_synced()

    def close(self) -> None:
        """Stop watching."""
        self._informer.stop()


class ManifestSource:
    """Static pods, read again and again from a place of the node's own."""

    def __init__(
        self,
        kind: str,
        read: Callable[[], Iterable[tuple[str, bytes]]],
        seconds: float,
        options: KubeletOptions,
        clock: Clock,
        sink: PodSink,
    ) -> None:
        """Call `read` every `seconds` for (place, content) of each manifest.

        Args:
            kind: ``file`` or ``http``: the pods' ``kubernetes.io/config.source``.
            read: may raise OSError, which leaves things as they are.
            seconds: of `clock`.
            options: the node's name, for the pods' names.
            clock: the cluster's time.
            sink: is told of the pods.
        """
        self._kind = kind
        self._read = read
        self._seconds = seconds
        self._options = options
        self._clock = clock
        self._sink = sink
        self._pods: dict[str, Object] = {}
        self._logger = logging.getLogger("hyperkube.kubelet")
        self._ready = False
        self._closed = False

    def start(self) -> None:
        """Read now and then from time to time, on the clock's thread."""
        self.look()
        self._again()

    def _again(self) -> None:
        def again() -> None:
            if not self._closed:
                self.look()
                self._again()

        self._clock.call_later(self._seconds, again)

    def look(self) -> None:
        """Read once and tell what changed."""
        try:
            found = {uid_of(pod): pod for pod in self._parse_all(self._read())}
        except OSError as error:
            self._logger.warning("static pods could not be read: %s", error)
            return
        self._ready = True
        for uid, pod in list(self._pods.items()):
            if uid not in found:
                del self._pods[uid]
                self._sink.remove(pod)
        for uid, pod in found.items():
            if uid not in self._pods:
                self._pods[uid] = pod
                self._sink.put(pod)

    def _parse_all(self, manifests: Iterable[tuple[str, bytes]]) -> Iterable[Object]:
        for place, content in manifests:
            try:
                yield from self._parse(place, content)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                self._logger.error("manifest %s is no pod: %s", place, error)  # noqa: TRY400  the user's mistake, not a bug

    def _parse(self, place: str, content: bytes) -> Iterable[Object]:
        for document in yaml.load_all(content, Loader=_Loader):
            if not document:
                continue
            items = document["items"] if str(document.get("kind", "")).endswith("List") else [document]
            for item in items:
                if item.get("kind") != "Pod":
                    raise ValueError(f"kind is {item.get('kind')!r}, want 'Pod'")
                yield static_pod(item, self._kind, self._options.node_name, place, format_time(self._clock.now()))

    def ready(self) -> bool:
        """Tell whether it was read once."""
        return self._ready

    def close(self) -> None:
        """Stop reading."""
        self._closed = True


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def static_pod(manifest: Object, kind: str, node_name: str, place: str, now: str) -> Object:
    """Return the pod that a manifest stands for: named after the node, with an identity made of its content."""
    spec = copy.deepcopy(manifest["spec"])
    meta = dict(manifest["metadata"])
    digest = hashlib.md5(usedforsecurity=False)
    for part in (orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS), node_name.encode(), place.encode()):
        digest.update(part)
    meta["uid"] = digest.hexdigest()
    meta["name"] = f"{meta['name']}-{node_name}"
    meta.setdefault("namespace", "default")
    meta["annotations"] = {
        **(meta.get("annotations") or {}),
        HASH_ANNOTATION: meta["uid"],
        SOURCE_ANNOTATION: kind,
        "kubernetes.io/config.seen": now,
    }
    spec["nodeName"] = node_name
    spec.setdefault("restartPolicy", "Always")
    for container in containers({"spec": spec}):
        default_requests(container)
    spec["tolerations"] = [*(spec.get("tolerations") or []), {"operator": "Exists", "effect": "NoExecute"}]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {"phase": "Pending"}}


def read_folder(path: Path) -> Iterable[tuple[str, bytes]]:
    """Return the manifests of a folder (files that do not begin with a dot), or of one file."""
    if path.is_dir():
        files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
        return [(str(entry), entry.read_bytes()) for entry in files]
    return [(str(path), path.read_bytes())] if path.exists() else []


def read_url(url: str, header: str) -> Iterable[tuple[str, bytes]]:
    """Return the manifest at a URL; `header` is one ``key:value`` to send along.

    Raises:
        OSError: it cannot be had.
    """
    key, _, value = header.partition(":")
    request = urllib.request.Request(url, headers={key.strip(): value.strip()} if key else {})  # noqa: S310  the operator's URL
    with urllib.request.urlopen(request, timeout=_HTTP_SECONDS) as answer:  # noqa: S310  the same
        return [(url, answer.read())]


def static_sources(options: KubeletOptions, clock: Clock, sink: PodSink) -> list[ManifestSource]:
    """Return the sources that the options name."""
    found = []
    if options.manifest_path:
        path = Path(options.manifest_path)
        found.append(
            ManifestSource("file", lambda: read_folder(path), options.file_check_seconds, options, clock, sink)
        )
    if options.manifest_url:
        found.append(
            ManifestSource(
                "http",
                lambda: read_url(options.manifest_url, options.manifest_header),
                options.http_check_seconds,
                options,
                clock,
                sink,
            )
        )
    return found
