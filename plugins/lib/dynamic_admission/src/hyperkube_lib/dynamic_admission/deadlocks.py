"""Webhooks that keep their own backends from starting: noticed when configured, told and broken when it happens.

A webhook stands in its own way when it fails closed and is asked about what its own pods need; several do when each is
asked about what the next one's pods need. While an endpoint is ready nothing shows; once none is, nothing starts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hyperkube_lib.dynamic_admission.namespaces import Namespaces

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import ENDPOINTS, PODS, SERVICES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, labels_of, name_of
from hyperkube.machinery.users import APISERVER_USER

if TYPE_CHECKING:
    from hyperkube_lib.dynamic_admission.needs import Backend, Need

OPTION = "break-webhook-deadlocks"
BROKEN = "deadlock-broken.webhook.hyperkube.dev/"
REASON = "WebhookDeadlock"
_GROUP = "admissionregistration.k8s.io"
_CONFIGURATIONS = {
    "ValidatingWebhookConfiguration": GroupVersionResource(_GROUP, "v1", "validatingwebhookconfigurations"),
    "MutatingWebhookConfiguration": GroupVersionResource(_GROUP, "v1", "mutatingwebhookconfigurations"),
}
_FAILED_SECONDS = 30.0
"""How long a webhook that could not be reached counts as down."""
_TELL_SECONDS = 60.0
"""The same deadlock is told again after this time."""


def is_own_event(request: AdmissionRequest) -> bool:
    """Tell whether this is the event that tells of a deadlock: no webhook may keep it from being told."""
    return (
        request.resource.resource == "events"
        and request.user.name == APISERVER_USER
        and (request.object or {}).get("reason") == REASON
    )


@dataclass(frozen=True, slots=True)
class Closed:
    """A webhook that fails closed, and its backend in the cluster."""

    kind: str
    configuration: str
    declared: Object
    backend: Backend

    @property
    def name(self) -> str:
        """The webhook's name."""
        return str(self.declared.get("name", ""))

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others."""
        return (self.kind, self.configuration, self.name)


class Deadlocks:
    """What one plugin knows of them.

    Args:
        client: reads services and endpoints, when something is to be found out; writes the events.
        informers: the shared caches of configurations and namespaces.
        clock: the cluster's time.
        logger: where a deadlock is told.
        breaks: whether the writes that a deadlock keeps from happening are let through.
    """

    def __init__(
        self, client: Client, informers: InformerFactory, clock: Clock, logger: logging.Logger, *, breaks: bool
    ) -> None:
        self._client = client
        self._clock = clock
        self._logger = logger
        self._breaks = breaks
        self._namespaces = Namespaces(client, informers)
        self._informers = {kind: informers.informer(resource) for kind, resource in _CONFIGURATIONS.items()}
        self._events = EventRecorder(client, clock, "kube-apiserver")
        self._told: dict[tuple[tuple[str, str, str], ...], float] = {}
        self._failed: dict[tuple[str, str, str], float] = {}

    def warn(self, request: AdmissionRequest) -> None:
        """Warn the client that writes a configuration that could deadlock."""
        written = request.object
        if request.operation not in {"CREATE", "UPDATE"} or written is None:
            return
        kind = next((kind for kind, gvr in _CONFIGURATIONS.items() if gvr.resource == request.resource.resource), "")
        own = list(self._closed(kind, written))
        if not own:
            return
        others = [one for one in self._all() if one.key[:2] != (kind, name_of(written))]
        for webhook in own:
            if cycle := self._cycle(webhook, [*own, *others]):
                request.warnings.append(_could(cycle, self._hindrance(cycle)))

    def breaks(self, kind: str, configuration: str, declared: Object, request: AdmissionRequest) -> bool:
        """Tell of the deadlock that a call which failed is part of, if it is; tell whether the write is let through."""
        key = (kind, configuration, str(declared.get("name", "")))
        self._failed[key] = self._clock.monotonic()
        down = [one for one in self._all() if not self._is_up(one)]
        failed = next((one for one in down if one.key == key), None)
        if failed is None:
            return False
        cycle = self._cycle(failed, down)
        if not cycle or not self._is_needed(cycle, request):
            return False
        self._tell(cycle, request)
        if self._breaks:
            request.annotations[BROKEN + failed.name] = f"needed by {', '.join(str(one.backend) for one in cycle)}"
        return self._breaks

    def _all(self) -> Iterable[Closed]:
        for kind, informer in self._informers.items():
            for configuration in sorted(informer.list(), key=name_of):
                yield from self._closed(kind, configuration)

    def _closed(self, kind: str, configuration: Object) -> Iterable[Closed]:
        for declared in configuration.get("webhooks") or ():
            if declared.get("failurePolicy") != "Ignore" and (backend := self._backend(declared)) is not None:
                yield Closed(kind, name_of(configuration), declared, backend)

    def _backend(self, declared: Object) -> Backend | None:
        """Return the backend of a webhook, None when it does not run as pods in this cluster."""
        from hyperkube_lib.dynamic_admission.needs import Backend

        reference = (declared.get("clientConfig") or {}).get("service")
        if not reference:
            return None
        namespace, name = str(reference.get("namespace", "")), str(reference.get("name", ""))
        try:
            selector = self._client.get(SERVICES, name, namespace)["spec"].get("selector")
        except (ApiError, OSError):
            return None
        return Backend(namespace, name, selector) if selector else None

    def _is_up(self, webhook: Closed) -> bool:
        """Tell whether a backend may answer: endpoints that are listed may all be gone."""
        failed_at, backend = self._failed.get(webhook.key), webhook.backend
        if failed_at is not None and self._clock.monotonic() - failed_at < _FAILED_SECONDS:
            return False
        try:
            subsets = self._client.get(ENDPOINTS, backend.name, backend.namespace).get("subsets")
        except NotFound:
            return False
        return any(subset.get("addresses") for subset in subsets or ())

    def _cycle(self, start: Closed, among: Sequence[Closed]) -> list[Closed]:
        """Return the shortest way from a webhook back to itself: each hinders the one before it; empty when none is."""
        ways = [[start]]
        seen: set[tuple[str, str, str]] = set()
        while ways:
            way = ways.pop(0)
            for webhook in among:
                if webhook.key in seen or self._first_hindrance(way[-1].backend, webhook) is None:
                    continue
                if webhook.key == start.key:
                    return way
                seen.add(webhook.key)
                ways.append([*way, webhook])
        return []

    def _first_hindrance(self, backend: Backend, webhook: Closed) -> Need | None:
        return backend.first_hindrance(webhook.declared, self._namespaces)

    def _hindrance(self, cycle: Sequence[Closed]) -> Need | None:
        return self._first_hindrance(cycle[0].backend, cycle[1 % len(cycle)])

    def _is_needed(self, cycle: Sequence[Closed], request: AdmissionRequest) -> bool:
        from hyperkube_lib.dynamic_admission.needs import pod_labels

        labels = pod_labels(request)
        if labels is None:
            try:
                labels = labels_of(self._client.get(PODS, request.name, request.namespace))
            except (ApiError, OSError):
                labels = {}
        return any(webhook.backend.needs(request, labels) for webhook in cycle)

    def _tell(self, cycle: Sequence[Closed], request: AdmissionRequest) -> None:
        text = _does(cycle, broken=self._breaks)
        if text not in request.warnings:
            request.warnings.append(text)
        now, key = self._clock.monotonic(), tuple(sorted(one.key for one in cycle))
        if now - self._told.get(key, -_TELL_SECONDS) < _TELL_SECONDS:
            return
        self._told[key] = now
        self._logger.warning("%s", text)
        if request.dry_run:
            return
        for webhook in cycle:
            about = self._informers[webhook.kind].get("", webhook.configuration) or {}
            shown = {**about, "kind": webhook.kind, "apiVersion": f"{_GROUP}/v1"}
            self._events.event(shown, "Warning", REASON, text)


def _names(cycle: Sequence[Closed]) -> str:
    return ", ".join(f'"{one.name}" (service {one.backend})' for one in cycle)


def _could(cycle: Sequence[Closed], need: Need | None) -> str:
    what = f"{need} that" if need is not None else "what"
    if len(cycle) == 1:
        problem = f"webhook {_names(cycle)} fails closed and is asked about {what} its own backend needs to start"
    else:
        problem = f"webhooks {_names(cycle)} fail closed and are asked about {what} each other's backends need to start"
    return f"{problem}: once no endpoint is ready, none will be; exempt the namespace with a namespaceSelector"


def _does(cycle: Sequence[Closed], *, broken: bool) -> str:
    subject = "webhook" if len(cycle) == 1 else "webhooks"
    verb = "keeps its own backend" if len(cycle) == 1 else "keep their backends"
    ending = "what the backend needs is let through" if broken else f"start the API server with --{OPTION} to break it"
    return f"deadlock: {subject} {_names(cycle)} {verb} from starting: {ending}"
