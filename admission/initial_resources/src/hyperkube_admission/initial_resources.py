"""InitialResources: a container that asks for nothing is given what its image has used before.

The 90th percentile (``--ir-percentile``) of the samples of the last week of the same image in the same namespace; with
fewer than 30 samples, of the last month, then of all namespaces, then of other tags of the image. The samples are those
that Heapster writes to InfluxDB (``--ir-influxdb-host``); a database that cannot be asked leaves the pod as it is.
Kubernetes' other sources, ``gcm`` and ``hawkular``, have gone out of service.
Source: kubernetes ``plugin/pkg/admission/initialresources`` (1.2 to 1.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import orjson

from hyperkube.client.exchange import Bounds
from hyperkube.client.http import HttpClient
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError, UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import from_milli
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

ANNOTATION = "kubernetes.io/initial-resources"
ENOUGH_SAMPLES = 30
WEEK, MONTH = timedelta(days=7), timedelta(days=30)
_SERIES = {"cpu": "cpu/usage_rate", "memory": "memory/usage"}
_DEFAULT_HOST = "localhost:8080/api/v1/proxy/namespaces/kube-system/services/monitoring-influxdb:api"
_TIMEOUT_SECONDS = 5.0
_BOUNDS = Bounds(size=4 << 20, seconds=_TIMEOUT_SECONDS)


class SourceFailed(HyperkubeError):
    """The database of samples cannot be asked, or answers nonsense; the pod goes without an estimate."""


class UsageSource(Protocol):
    """Where samples of what containers used come from."""

    def percentile(
        self, resource: str, percent: int, image: str, namespace: str, start: datetime, end: datetime, *, exact: bool
    ) -> tuple[int, int]:
        """Return a percentile (cpu in thousandths, memory in bytes) and of how many samples it is.

        `namespace` may be empty for all of them; unless `exact`, the image is only the beginning of a name.

        Raises:
            SourceFailed: there is no answer.
        """


class InfluxDb:
    """The samples that Heapster has written to InfluxDB."""

    def __init__(self, host: str, user: str, password: str, database: str, clock: Clock) -> None:
        scheme, colon, rest = host.partition("://")
        address, _, path = (rest if colon else host).partition("/")
        server = f"{scheme if colon else 'http'}://{address}"
        self._client = HttpClient(server, timeout=_TIMEOUT_SECONDS, clock=clock, bounds=_BOUNDS)
        self._path = f"/{path}" if path else ""
        self._login = {"u": user, "p": password, "db": database}

    def percentile(
        self, resource: str, percent: int, image: str, namespace: str, start: datetime, end: datetime, *, exact: bool
    ) -> tuple[int, int]:
        """Ask with one statement; see `UsageSource`."""
        which = f"= '{_quoted(image)}'" if exact else f"=~ /^{_pattern(image)}/"
        where = f'"container_base_image" {which}'
        if namespace:
            where += f" AND \"namespace_name\" = '{_quoted(namespace)}'"
        where += f" AND time > '{start:%Y-%m-%d %H:%M:%S}' AND time < '{end:%Y-%m-%d %H:%M:%S}'"
        columns = f'percentile("value", {percent}), count("value")'
        answer = self._ask(f'SELECT {columns} FROM "{_SERIES[resource]}" WHERE {where}')  # noqa: S608  all texts are quoted
        return _numbers(answer)

    def _ask(self, statement: str) -> Any:
        query = urlencode({**self._login, "q": statement}, quote_via=quote)
        try:
            answer = self._client.request("GET", f"{self._path}/query?{query}")
            if answer.status != 200:
                raise SourceFailed(f"error while trying to query InfluxDB: it answers {answer.status}")
            return orjson.loads(answer.body)
        except (ConnectionError, TimeoutError, orjson.JSONDecodeError) as error:
            raise SourceFailed(f"error while trying to query InfluxDB: {error}") from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _pattern(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else f"\\{letter}" for letter in text)


def _numbers(answer: Any) -> tuple[int, int]:
    """Return the two numbers of an answer; nought when no sample fitted."""
    try:
        result = answer["results"][0]
        if "error" in result:
            raise SourceFailed(f"error while trying to query InfluxDB: {result['error']}")
        rows = (result.get("series") or [{}])[0].get("values") or [[None, 0, 0]]
        _, usage, samples = rows[0]
        return int(usage or 0), int(samples or 0)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SourceFailed("error while trying to query InfluxDB: the answer has another shape") from error


def questions(image: str, namespace: str, *, namespace_only: bool) -> Iterator[tuple[str, str, timedelta, bool]]:
    """Yield what to ask for, nearest first: image, namespace (empty: all), how far back, whether with its tag."""
    name = image.split(":", maxsplit=1)[0]
    yield image, namespace, WEEK, True
    yield image, namespace, MONTH, True
    if namespace_only:
        yield name, namespace, MONTH, False
        return
    yield image, "", WEEK, True
    yield image, "", MONTH, True
    yield name, "", MONTH, False


class Settings(Record):
    """Where samples come from, and what becomes of them."""

    ir_data_source: str = "influxdb"
    ir_percentile: int = 90
    ir_namespace_only: bool = False
    ir_influxdb_host: str = _DEFAULT_HOST
    ir_user: str = "root"
    ir_password: str = "root"  # noqa: S105  Kubernetes' default
    ir_dbname: str = "k8s"


class InitialResources(Plugin):
    """Fills requests in for cpu and memory of containers of new pods that say nothing about them."""

    handles = frozenset({"pods"})

    source: UsageSource

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        if settings.ir_data_source != "influxdb":
            raise UsageError(f"ir-data-source {settings.ir_data_source!r} is unknown or out of service (influxdb)")
        self._percent = settings.ir_percentile
        if not 0 <= self._percent <= 100:
            raise UsageError(f"ir-percentile {self._percent} must be from 0 to 100")
        self._namespace_only = settings.ir_namespace_only
        self._database = InfluxDb(
            settings.ir_influxdb_host, settings.ir_user, settings.ir_password, settings.ir_dbname, context.clock
        )
        self.source = self._database

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Estimate what is not said, and say in an annotation what was estimated."""
        if not request.creates("pods"):
            return
        pod = request.written()
        texts = []
        for container in spec_of(pod).get("containers") or ():
            names = self._fill(container, request.namespace)
            if names:
                texts.append(f"{', '.join(names)} request for container {container.get('name', '')}")
        if texts:
            annotations = pod.setdefault("metadata", {}).setdefault("annotations", {})
            annotations[ANNOTATION] = f"Initial Resources plugin set: {'; '.join(texts)}"

    def _fill(self, container: Object, namespace: str) -> list[str]:
        resources = container.get("resources") or {}
        requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
        found = {}
        for name in _SERIES:
            if name in requests or name in limits:
                continue
            amount = self._estimate(name, str(container.get("image") or ""), namespace)
            if amount is not None:
                found[name] = amount
        if found:
            container["resources"] = {**resources, "requests": {**requests, **found}}
        return sorted(found)

    def _estimate(self, resource: str, image: str, namespace: str) -> str | None:
        end = self.context.clock.now()
        usage = samples = 0
        try:
            for asked, where, back, exact in questions(image, namespace, namespace_only=self._namespace_only):
                usage, samples = self.source.percentile(
                    resource, self._percent, asked, where, end - back, end, exact=exact
                )
                if samples >= ENOUGH_SAMPLES:
                    break
        except SourceFailed as error:
            self.context.logger.warning("Error while trying to estimate resources: %s", error)
            return None
        if not samples:
            return None
        return str(from_milli(usage)) if resource == "cpu" else str(usage)

    def close(self) -> None:
        """Close the connections to the database."""
        self._database.close()
