"""Static pods, read from a folder of manifests or a URL.

Sources: kubernetes ``pkg/kubelet/config/{file,http,common}.go``.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson
from hyperkube_host.kubelet.config.pod_sink import PodSink
from hyperkube_host.kubelet.types.pod_update import HASH_ANNOTATION, SEEN_ANNOTATION, SOURCE_ANNOTATION

from hyperkube.client.exchange import Bounds, read_body
from hyperkube.kinds.pods import containers, default_requests
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.objects import Object, annotations_of, metadata, uid_of
from hyperkube.machinery.times import format_time

HTTP = "http"
HTTP_SECONDS = 10.0
MOST_BYTES = 10 << 20
"""Of a manifest; a longer one is none. Source: kubernetes ``pkg/kubelet/config/common.go`` (maxConfigLength)."""
_POD_DEFAULTS = {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30}
_CONTAINER_DEFAULTS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
"""What the API server would fill in, of that on which the kubelet depends."""
_TOLERATION = {"operator": "Exists", "effect": "NoExecute"}
_DOCUMENT_MARK = re.compile(rb"^---\s*$", re.MULTILINE)


class ManifestSource:
    """Static pods, read from time to time from one place; a `PodSource`."""

    def __init__(
        self,
        kind: str,
        read: Callable[[], Iterable[tuple[str, bytes]]],
        seconds: float,
        node_name: str,
        clock: Clock,
        sink: PodSink,
    ) -> None:
        """Call `read` every `seconds` for (place, content) of each manifest.

        Args:
            kind: ``file`` or ``http``: the pods' ``kubernetes.io/config.source``.
            read: may raise OSError; the pods then stay as they are.
            seconds: of `clock`.
            node_name: is appended to the names of the pods.
            clock: the cluster's time.
            sink: receives the pods.
        """
        self._kind = kind
        self._read = read
        self._seconds = seconds
        self._node_name = node_name
        self._clock = clock
        self._sink = sink
        self._pods: dict[str, Object] = {}
        self._logger = logging.getLogger("hyperkube.kubelet")
        self._ready = False
        self._closed = False
        self._timer: Timer | None = None

    def start(self) -> None:
        """Read now and from then on periodically: folders on the clock's thread, URLs each time on one of their own.

        Another server may take its time to answer, and neither the kubelet's start nor its timers wait for that.
        """
        if self._kind == HTTP:
            self._read_aside()
        else:
            self.read_once()
            self._schedule()

    def _schedule(self) -> None:
        self._timer = self._clock.call_later(self._seconds, self._read_again)

    def _read_again(self) -> None:
        if self._closed:
            return
        if self._kind == HTTP:
            self._read_aside()
        else:
            self.read_once()
            self._schedule()

    def _read_aside(self) -> None:
        def read() -> None:
            try:
                self.read_once()
            finally:
                self._schedule()

        threading.Thread(target=read, name="manifest-url", daemon=True).start()

    def read_once(self) -> None:
        """Read all manifests and report what changed."""
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
            # A manifest that names its uid may change and keep it.
            if uid not in self._pods or _content(pod) != _content(self._pods[uid]):
                self._pods[uid] = pod
                self._sink.put(pod)

    def _parse_all(self, manifests: Iterable[tuple[str, bytes]]) -> Iterable[Object]:
        for place, content in manifests:
            try:
                yield from self._parse(place, content)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                self._logger.error("manifest %s is no pod: %s", place, error)  # noqa: TRY400  the user's mistake, not a bug

    def _parse(self, place: str, content: bytes) -> Iterable[Object]:
        from hyperkube.machinery.codecs import yaml  # most nodes have no manifests

        if len(content) > MOST_BYTES:
            raise ValueError(f"it is longer than {MOST_BYTES} bytes")
        for part in _DOCUMENT_MARK.split(content):
            document, _ = yaml.loads(part)
            if not document:
                continue
            items = document["items"] if str(document.get("kind", "")).endswith("List") else [document]
            for item in items:
                if item.get("kind") != "Pod":
                    raise ValueError(f"kind is {item.get('kind')!r}, want 'Pod'")
                yield static_pod(item, self._kind, self._node_name, place, format_time(self._clock.now()))

    def ready(self) -> bool:
        """Tell whether the manifests were read once."""
        return self._ready

    def close(self) -> None:
        """Stop reading."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()


def static_pod(manifest: Object, kind: str, node_name: str, place: str, now: str) -> Object:
    """Return the pod of a manifest: the node's name is part of its name, and its uid is a digest of its content.

    A uid that the manifest names is kept. Pods of files tolerate taints that evict: they would only come back.

    Raises:
        ValueError: it is no pod.
    """
    from hyperkube_host.kubelet.config.manifest_shape import read_manifest

    meta, spec = read_manifest(manifest)
    digest = hashlib.md5(usedforsecurity=False)
    for part in (orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS), node_name.encode(), place.encode()):
        digest.update(part)
    meta["uid"] = meta.get("uid") or digest.hexdigest()
    meta["name"] = f"{meta['name']}-{node_name}"
    meta.setdefault("namespace", "default")
    meta["annotations"] = {
        **(meta.get("annotations") or {}),
        HASH_ANNOTATION: meta["uid"],
        SOURCE_ANNOTATION: kind,
        SEEN_ANNOTATION: now,
    }
    spec["nodeName"] = node_name
    for field, value in _POD_DEFAULTS.items():
        spec.setdefault(field, value)
    for container in containers({"spec": spec}):
        for field, value in _CONTAINER_DEFAULTS.items():
            container.setdefault(field, value)
        default_requests(container)
    if kind != HTTP:
        others = [one for one in spec.get("tolerations") or [] if one != _TOLERATION]
        spec["tolerations"] = [*others, dict(_TOLERATION)]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {"phase": "Pending"}}


def _content(pod: Object) -> Object:
    """Return a pod without the time at which it was seen."""
    annotations = {key: value for key, value in annotations_of(pod).items() if key != SEEN_ANNOTATION}
    return {**pod, "metadata": {**metadata(pod), "annotations": annotations}}


def read_folder(path: Path) -> Iterable[tuple[str, bytes]]:
    """Return the manifests of a folder (files that do not begin with a dot), or of one file."""
    if path.is_dir():
        files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
        return [(str(entry), _at_most(entry)) for entry in files]
    return [(str(path), _at_most(path))] if path.exists() else []


def _at_most(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def read_url(url: str, header: str, clock: Clock) -> Iterable[tuple[str, bytes]]:
    """Return the manifest at a URL; `header` is one ``key:value`` to send along.

    Raises:
        OSError: it cannot be read, or not in time, or is too long.
    """
    import urllib.request

    key, _, value = header.partition(":")
    request = urllib.request.Request(url, headers={key.strip(): value.strip()} if key else {})  # noqa: S310  the operator's URL
    with urllib.request.urlopen(request, timeout=HTTP_SECONDS) as answer:  # noqa: S310  the same
        return [(url, read_body(answer.read1, Bounds(size=MOST_BYTES, seconds=HTTP_SECONDS), clock.monotonic))]
