"""Reading metrics, which extension servers offer in three API groups.

Those of resources are in metrics.k8s.io, those of pods and objects in custom.metrics.k8s.io, those of things outside
of the cluster in external.metrics.k8s.io.
Sources: kubernetes ``pkg/controller/podautoscaler/metrics/client.go``, ``staging/src/k8s.io/metrics/pkg/client``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import orjson

from hyperkube.client.client import Client
from hyperkube.client.wire import error_of
from hyperkube.machinery import quantity
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import parse_duration
from hyperkube.machinery.errors import ApiError, HyperkubeError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import Selector
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.times import parse_time

POD_METRICS = GroupVersionResource("metrics.k8s.io", "v1beta1", "pods")
CUSTOM_METRICS = "custom.metrics.k8s.io"
EXTERNAL_METRICS = "/apis/external.metrics.k8s.io/v1beta1"
_CUSTOM_VERSIONS = ("v1beta2", "v1beta1")
_DEFAULT_WINDOW = 60.0


class NoMetric(HyperkubeError):
    """A metric cannot be had, or says nothing about the pods; the message says why."""


@dataclass(frozen=True, slots=True)
class PodMetric:
    """The value of a pod in thousandths, when it was taken, and over how many seconds."""

    value: int
    timestamp: datetime | None = None
    window: float = _DEFAULT_WINDOW


PodMetrics = dict[str, PodMetric]
"""The metrics of pods by name."""


class MetricsClient:
    """Reads metrics in the name of the autoscaler; thread-safe."""

    def __init__(self, client: Client, resource_of: Callable[[str, str], GroupVersionResource]) -> None:
        """Read through `client`; `resource_of` returns the resource of a (group, kind) or raises an ApiError."""
        self._client = client
        self._resource_of = resource_of

    def resource_metrics(self, resource: str, namespace: str, selector: Selector, container: str) -> PodMetrics:
        """Return what the selected pods, or a container of each, use of a resource.

        Raises:
            NoMetric: none is to be had.
        """
        try:
            rows = self._client.list(POD_METRICS, namespace, label_selector=str(selector)).items
        except (ApiError, OSError) as error:
            raise NoMetric(f"unable to fetch metrics from resource metrics API: {error}") from error
        if not rows:
            raise NoMetric("no metrics returned from resource metrics API")
        return container_metrics(rows, resource, container) if container else pod_metrics(rows, resource)

    def pods_metric(self, metric: str, namespace: str, selector: Selector, metric_selector: str) -> PodMetrics:
        """Return the values of a custom metric of the selected pods.

        Raises:
            NoMetric: none is to be had.
        """
        query = {"labelSelector": str(selector), "metricLabelSelector": metric_selector}
        rows = self._custom(f"namespaces/{namespace}/pods/*/{metric}", query)
        if not rows:
            raise NoMetric("no metrics returned from custom metrics API")
        return {
            row["describedObject"]["name"]: PodMetric(
                _milli(row["value"]), _time(row.get("timestamp")), float(row.get("windowSeconds") or _DEFAULT_WINDOW)
            )
            for row in rows
        }

    def object_metric(self, metric: str, namespace: str, described: Object, metric_selector: str) -> int:
        """Return the value of a custom metric of an object, in thousandths.

        Raises:
            NoMetric: it is not to be had.
        """
        group = described.get("apiVersion", "").rpartition("/")[0]
        if (group, described["kind"]) == ("", "Namespace"):
            # Not the one that is named: an autoscaler does not look beyond its own namespace.
            path = f"namespaces/{namespace}/metrics/{metric}"
        else:
            try:
                resource = self._resource_of(group, described["kind"])
            except ApiError as error:
                raise NoMetric(f"unable to fetch metrics from custom metrics API: {error}") from error
            path = f"namespaces/{namespace}/{resource.group_resource}/{described['name']}/{metric}"
        rows = self._custom(path, {"metricLabelSelector": metric_selector})
        if len(rows) != 1:
            text = f"the custom metrics API server returned {len(rows)} results when we asked for exactly one"
            raise NoMetric(f"unable to fetch metrics from custom metrics API: {text}")
        return _milli(rows[0]["value"])

    def external_metric(self, metric: str, namespace: str, metric_selector: str) -> list[int]:
        """Return the values of an external metric, in thousandths.

        Raises:
            NoMetric: none is to be had.
        """
        path = f"{EXTERNAL_METRICS}/namespaces/{namespace}/{metric}"
        try:
            rows = self._items(path, {"labelSelector": metric_selector})
        except (ApiError, OSError) as error:
            raise NoMetric(f"unable to fetch metrics from external metrics API: {error}") from error
        if not rows:
            raise NoMetric("no metrics returned from external metrics API")
        return [_milli(row["value"]) for row in rows]

    def _custom(self, path: str, query: Mapping[str, str]) -> list[Object]:
        try:
            return self._items(f"/apis/{CUSTOM_METRICS}/{self._custom_version()}/{path}", query)
        except (ApiError, OSError) as error:
            raise NoMetric(f"unable to fetch metrics from custom metrics API: {error}") from error

    def _custom_version(self) -> str:
        """Return the version to ask in: the server's preferred one of those that are understood."""
        try:
            group = self._read(f"/apis/{CUSTOM_METRICS}", {})
        except NotFound:
            group = {}
        served = [row["version"] for row in group.get("versions") or []]
        preferred = (group.get("preferredVersion") or {}).get("version")
        for version in (preferred, *served):
            if version in _CUSTOM_VERSIONS:
                return str(version)
        raise NotFound(f"no custom metrics API ({CUSTOM_METRICS}) registered")

    def _items(self, path: str, query: Mapping[str, str]) -> list[Object]:
        answer = self._read(path, query)
        return list(answer.get("items") or [])

    def _read(self, path: str, query: Mapping[str, str]) -> Object:
        given = {key: value for key, value in query.items() if value}
        answer = self._client.request("GET", path, query=given, headers={"Accept": "application/json"})
        if answer.status == 404 and not answer.body.startswith(b"{"):
            # No server of the group, as client-go tells it.
            group, _, rest = path.removeprefix("/apis/").partition("/")
            raise NotFound(f"the server could not find the requested resource (get {rest.rpartition('/')[2]}.{group})")
        if answer.status != 200:
            raise error_of(answer.status, answer.headers, answer.body)
        document: Object = orjson.loads(answer.body)
        return document


def container_metrics(rows: Iterable[Object], resource: str, container: str) -> PodMetrics:
    """Return what one container of each pod uses; a pod whose container has no value is left out.

    Raises:
        NoMetric: a pod has no such container.
    """
    found: PodMetrics = {}
    for row in rows:
        part = next((part for part in row.get("containers") or [] if part.get("name") == container), None)
        if part is None:
            about = f"{namespace_of(row)}/{name_of(row)}"
            text = f"container {container} not present in metrics for pod {about}"
            raise NoMetric(f"failed to get container metrics: {text}")
        if resource in (part.get("usage") or {}):
            found[name_of(row)] = _sample(row, [part], resource)
    return found


def pod_metrics(rows: Iterable[Object], resource: str) -> PodMetrics:
    """Return what all containers of each pod use; a pod of which a container has no value is left out."""
    found: PodMetrics = {}
    for row in rows:
        parts = row.get("containers") or []
        if parts and all(resource in (part.get("usage") or {}) for part in parts):
            found[name_of(row)] = _sample(row, parts, resource)
    return found


def _sample(row: Object, parts: Sequence[Object], resource: str) -> PodMetric:
    value = sum(_milli(part["usage"][resource]) for part in parts)
    window = parse_duration(row["window"]) if row.get("window") else 0.0
    return PodMetric(value, _time(row.get("timestamp")), window)


def _milli(value: str | float) -> int:
    return quantity.parse(value).milli_value()


def _time(text: str | None) -> datetime | None:
    return parse_time(text) if text else None
