"""Follows APIServices: asks whether their servers are there and what they serve, and registers what this one gains.

Source: kubernetes kube-aggregator ``pkg/controllers/{status/remote,autoregister}``,
``pkg/controlplane/controller/crdregistration``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from hyperkube_host.apiserver.aggregation.descriptions import RemoteOpenApi
from hyperkube_host.apiserver.aggregation.fetch import fetch
from hyperkube_host.apiserver.aggregation.remotes import Remote, Remotes, remote_of
from hyperkube_host.apiserver.aggregation.resources import ACCEPT, is_whole, rows_of_version, rows_of_whole
from hyperkube_host.apiserver.aggregation.route import Routes, Unreachable
from hyperkube_host.apiserver.follower import Follower
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_lib.serving.exchange import Response

from hyperkube.client.client import Client
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.resources import API_SERVICES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, Conflict, NotFound, UsageError
from hyperkube.machinery.objects import Object, copy_object, labels_of, name_of
from hyperkube.machinery.users import UserInfo

AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
_AGGREGATOR = UserInfo("system:kube-aggregator", "", ("system:masters",))
_ALL = "all"
_AGAIN_SECONDS, _RETRY_SECONDS = 30.0, 1.0
_REFRESH_SECONDS = 60.0
"""From one reading of a server's discovery and OpenAPI to the next; whether it answers is asked in between."""
_GROUP_PRIORITY, _VERSION_PRIORITY = 1000, 100


class ApiServiceController:
    """Follows the APIServices and, beside that, asks their servers and registers custom group versions."""

    def __init__(
        self,
        registry: Registry,
        remotes: Remotes,
        routes: Routes,
        described: RemoteOpenApi,
        client: Client,
        clock: Clock,
        logger: logging.Logger,
    ) -> None:
        self._described = described
        self._registry = registry
        self._remotes = remotes
        self._routes = routes
        self._client = client
        self._clock = clock
        self._logger = logger
        self._registered: set[tuple[str, str]] = set()
        self._pauses: dict[str, float] = {}
        self._read: dict[str, tuple[Remote, float]] = {}
        self._follower = Follower(
            API_SERVICES,
            client,
            clock,
            logger,
            name="api-services",
            listed=self._listed,
            changed=self._note,
            gone=self._gone,
        )
        self._asking = WorkerPool("api-services-check", self._work, clock=clock, workers=1, logger=logger)

    def start(self) -> None:
        """Begin to follow and to ask."""
        if self._registry.find(API_SERVICES) is None:
            return
        self._follower.start()
        self._registry.on_change(self._ask_soon)
        self._ask_soon()
        self._asking.begin()

    def close(self) -> None:
        """Follow no more; idempotent."""
        self._follower.close()
        self._asking.stop()
        self._asking.wait_ended()
        if self._routes.kept is not None:
            self._routes.kept.close()

    # following

    def _listed(self, api_services: Sequence[Object]) -> None:
        for registration in api_services:
            self._note(registration)
            if labels_of(registration).get(AUTOMANAGED) == "true":
                spec = registration["spec"]
                self._registered.add((spec.get("group") or "", spec.get("version") or ""))

    def _note(self, registration: Object) -> None:
        remote = remote_of(registration)
        if remote is None:
            self._remotes.drop(name_of(registration))
            return
        known = self._remotes.find(remote.group, remote.version)
        if known is not None:
            remote = replace(remote, resources=known.resources)
        if known != remote:
            self._remotes.put(remote)
            self._ask_soon()

    def _gone(self, name: str) -> None:
        self._remotes.drop(name)
        self._ask_soon()

    # asking

    def _ask_soon(self) -> None:
        self._asking.queue.add(_ALL)

    def _work(self, key: str) -> None:
        self._asking.queue.cancel(key)  # the pause counts from now
        try:
            self._register_custom()
        except ApiError as error:
            self._logger.warning("custom group versions could not be registered: %s", error)
        for remote in self._remotes.all():
            if self._follower.stopped.is_set():
                return
            self._check(remote)
        names = {remote.name for remote in self._remotes.all()}
        self._described.keep(names)
        self._read = {name: read for name, read in self._read.items() if name in names}
        pause = self._pause()
        if pause is not None:
            self._asking.queue.add_after(key, pause)

    def _pause(self) -> float | None:
        remotes = self._remotes.all()
        if not remotes:
            return None
        return min(self._pauses.get(one.name, _RETRY_SECONDS) for one in remotes)

    def _check(self, remote: Remote) -> None:
        resources = remote.resources
        is_due = self._is_due(remote)
        try:
            resources = self._ask(remote, is_due=is_due)
            status, reason, message = "True", "Passed", "all checks passed"
            self._pauses[remote.name] = _AGAIN_SECONDS
        except Unreachable as error:
            status, reason, message = "False", error.reason, str(error)
            before = self._pauses.get(remote.name, 0.0) if not remote.available else 0.0
            self._pauses[remote.name] = min(max(before * 2, _RETRY_SECONDS), _AGAIN_SECONDS)
        renewed = replace(remote, available=status == "True", resources=resources)
        self._remotes.renew(renewed)
        if status == "True" and is_due:
            self._read[remote.name] = (renewed, self._clock.monotonic())
        try:
            self._tell(remote.name, status, reason, message)
        except (NotFound, Conflict):
            return  # it is gone, or a newer version of it is on its way and wakes us
        if status == "True" and is_due:
            self._described.refresh(remote)

    def _is_due(self, remote: Remote) -> bool:
        """Tell whether what a server has is to be read: after a while, and when it or its registration changed."""
        read, at = self._read.get(remote.name, (None, 0.0))
        return read != remote or self._clock.monotonic() - at >= _REFRESH_SECONDS - _RETRY_SECONDS

    def _ask(self, remote: Remote, *, is_due: bool) -> tuple[Object, ...]:
        """Return the resources that the server says it has; those that are known unless it is due to read them.

        Raises:
            Unreachable: it cannot be reached or does not serve the group version.
        """
        path = f"/apis/{remote.group}/{remote.version}"
        answer, url = self._get(remote, path, "application/json")
        if not 200 <= answer.status < 300:
            text = f"failing or missing response from {url}: bad status from {url}: {answer.status}"
            raise Unreachable("FailedDiscoveryCheck", text)
        if not is_due:
            return remote.resources
        whole, _ = self._get(remote, "/apis", ACCEPT)
        if not is_whole(whole):
            return rows_of_version(answer.body)
        try:
            return rows_of_whole(whole.body, remote.group, remote.version)
        except (ValueError, TypeError, AttributeError) as error:
            self._logger.warning("%s lists its groups in a form that cannot be read: %s", remote.name, error)
            return rows_of_version(answer.body)

    def _get(self, remote: Remote, path: str, accept: str) -> tuple[Response, str]:
        """Return an answer, and the URL that gave it.

        Raises:
            Unreachable: there is none.
        """
        relay = self._routes.relay(remote, path, _AGGREGATOR)
        url = f"https://{relay.host}:{relay.port}{path}"
        try:
            headers = {"Host": relay.server_name, "Accept": accept}
            return fetch(relay, self._clock, headers=headers, kept=self._routes.kept), url
        except (OSError, UsageError) as error:
            text = f"failing or missing response from {url}: Get {url!r}: {error}"
            raise Unreachable("FailedDiscoveryCheck", text) from error

    def _tell(self, name: str, status: str, reason: str, message: str) -> None:
        registration = self._client.get(API_SERVICES, name)
        before = (registration.get("status") or {}).get("conditions") or []
        new = {"type": "Available", "status": status, "reason": reason, "message": message}
        conditions = with_condition(before, new, self._clock.now())
        if conditions == before:
            return
        changed = {**copy_object(registration), "status": {"conditions": conditions}}
        self._client.update(API_SERVICES, changed, subresource="status")

    # registering

    def _register_custom(self) -> None:
        wanted = {(one.group, one.version) for one in self._registry.versions() if one.custom}
        for group, version in wanted - self._registered:
            self._register(group, version)
        for group, version in self._registered - wanted:
            self._unregister(f"{version}.{group}")
        self._registered = wanted

    def _register(self, group: str, version: str) -> None:
        spec = {
            "group": group,
            "version": version,
            "groupPriorityMinimum": _GROUP_PRIORITY,
            "versionPriority": _VERSION_PRIORITY,
        }
        meta = {"name": f"{version}.{group}", "labels": {AUTOMANAGED: "true"}}
        made = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": meta, "spec": spec}
        try:
            self._client.create(API_SERVICES, made)
        except AlreadyExists:
            return

    def _unregister(self, name: str) -> None:
        try:
            if labels_of(self._client.get(API_SERVICES, name)).get(AUTOMANAGED) == "true":
                self._client.delete(API_SERVICES, name)
        except NotFound:
            return
