"""The sixth stage: from a request to its answer, and what the server answers that is no resource."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from hyperkube_host.apiserver.aggregation.descriptions import RemoteOpenApi
from hyperkube_host.apiserver.aggregation.kept_connections import KeptConnections
from hyperkube_host.apiserver.aggregation.remotes import Remotes
from hyperkube_host.apiserver.aggregation.route import Routes, first_of
from hyperkube_host.apiserver.assembly.access import Access
from hyperkube_host.apiserver.assembly.foundation import LOGGER, Foundation
from hyperkube_host.apiserver.assembly.model import Model
from hyperkube_host.apiserver.assembly.stores import Stores
from hyperkube_host.apiserver.controlplane.identity_lease import own_server_id
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.max_in_flight import Limits
from hyperkube_host.apiserver.flowcontrol.options import limits_of
from hyperkube_host.apiserver.health.health import Check, Health
from hyperkube_host.apiserver.health.post_start_hooks import Part, PostStartHooks
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.pipeline.audit_options import auditor_of
from hyperkube_host.apiserver.pipeline.handler import ApiHandler
from hyperkube_host.apiserver.pipeline.pipeline import Pipeline
from hyperkube_host.apiserver.pipeline.request_path import RequestPath
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.routes.metrics import RequestMetrics
from hyperkube_host.apiserver.routes.paths import Paths
from hyperkube_host.apiserver.routes.root import Sources, root_paths
from hyperkube_host.apiserver.serializer.coarse_timers import CoarseTimers
from hyperkube_host.apiserver.serializer.encode import Encoder
from hyperkube_host.apiserver.serializer.encodings import ObjectEncoder
from hyperkube_host.apiserver.serializer.tables import ColumnDefinitions
from hyperkube_host.apiserver.storage.store_health import StoreAnswers, StoreMetrics
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.serving.turns import Turns

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

if TYPE_CHECKING:
    from hyperkube_host.apiserver.peerproxy import PeerProxy
    from hyperkube_host.apiserver.pipeline.auditor import Auditor
    from hyperkube_host.apiserver.pipeline.tracing import RequestTracer


class Aggregation(NamedTuple):
    """The other API servers behind this one: which there are, how they are reached, how they describe themselves."""

    remotes: Remotes
    routes: Routes
    described: RemoteOpenApi


class Serving(Record):
    """How requests are answered.

    Attributes:
        peers: the other servers of the cluster, None where requests are not passed on to them.
        hooks: which parts of the server have done what they do at the start.
        shutting_down: set when the server is no longer ready for new clients.
    """

    limits: Limits
    audit: Auditor | None
    peers: PeerProxy | None
    hooks: PostStartHooks
    shutting_down: threading.Event
    health: Health
    aggregation: Aggregation
    paths: Paths
    handler: ApiHandler


def build_serving(
    foundation: Foundation,
    stores: Stores,
    model: Model,
    access: Access,
    services: Services,
    protobuf: Protobuf,
    turns: Turns | None = None,
) -> Serving:
    """Return how requests are answered, and keep the promise of the request path."""
    options, clock = foundation.options, foundation.clock
    limits = limits_of(options.requests, clock)
    hooks = PostStartHooks(_parts(foundation, limits))
    shutting_down = threading.Event()
    checks = _checks(foundation, stores, model, hooks, shutting_down)
    health = Health(checks, LOGGER, clock, grace=options.features.livez_grace_period)
    metrics = RequestMetrics(limits)
    aggregation = _aggregation(foundation, services)
    peers = _peers(foundation, model, aggregation)
    paths = _paths(foundation, model, access, health, limits, metrics, aggregation, services, peers)
    pipeline = Pipeline(
        services,
        access.authorization,
        paths,
        LOGGER,
        elsewhere=aggregation.routes.answer if peers is None else first_of(aggregation.routes.answer, peers.answer),
        explanations=access.explanations,
    )
    audit = auditor_of(options.audit, clock, LOGGER, foundation.egress.get("controlplane"))
    handler = ApiHandler(
        pipeline,
        Encoder(clock, protobuf, ColumnDefinitions(model.descriptions), ObjectEncoder(protobuf), CoarseTimers(clock)),
        access.authentication,
        access.authorization,
        limits,
        metrics,
        clock,
        LOGGER,
        local_store=hasattr(model.store, "subscribe"),
        audit=audit,
        turns=turns,
        long_running=options.long_running,
        tracer=_tracer(options, clock),
    )
    foundation.request_path.keep(RequestPath(pipeline, handler, aggregation.routes.kept))
    return Serving(
        limits=limits,
        audit=audit,
        peers=peers,
        hooks=hooks,
        shutting_down=shutting_down,
        health=health,
        aggregation=aggregation,
        paths=paths,
        handler=handler,
    )


def _tracer(options: Options, clock: Clock) -> RequestTracer | None:
    path = str(options.values.get("tracing-config-file") or "")
    if not path:
        return None
    from hyperkube_host.apiserver.pipeline.tracing import open_tracer

    return open_tracer(path, clock, own_server_id())


def _aggregation(foundation: Foundation, services: Services) -> Aggregation:
    remotes = Remotes()
    dial, kept = foundation.egress.get("cluster"), KeptConnections(foundation.clock)
    routes = Routes(remotes, services.objects, foundation.options.aggregation, dial, kept)
    return Aggregation(remotes, routes, RemoteOpenApi(routes, foundation.clock, LOGGER))


def _peers(foundation: Foundation, model: Model, aggregation: Aggregation) -> PeerProxy | None:
    if not foundation.options.values.get("peer-ca-file"):
        return None
    from hyperkube_host.apiserver.peerproxy import peer_proxy_of

    def is_served(group: str, version: str, resource: str) -> bool:
        own = model.registry.version(group, version)
        return (own is not None and resource in own.resources) or aggregation.remotes.find(group, version) is not None

    return peer_proxy_of(
        foundation.options, model.store, foundation.root, is_served, foundation.loopback, foundation.clock, LOGGER
    )


def _paths(
    foundation: Foundation,
    model: Model,
    access: Access,
    health: Health,
    limits: Limits,
    metrics: RequestMetrics,
    aggregation: Aggregation,
    services: Services,
    peers: PeerProxy | None,
) -> Paths:
    tunnels = services.ssh_tunnels
    stored = StoreMetrics(model.registry, model.raw_stores, foundation.options.storage, foundation.clock, model.damaged)
    return root_paths(
        Sources(
            options=foundation.options,
            clock=foundation.clock,
            logger=LOGGER,
            registry=model.registry,
            health=health,
            metrics=lambda: b"".join(
                (
                    metrics.text(),
                    services.admission.metrics(),
                    stored.text(),
                    tunnels.metrics() if tunnels is not None else b"",
                    peers.metrics.text() if peers is not None else b"",
                )
            ),
            limits=limits,
            explanations=access.explanations,
            remotes=aggregation.remotes,
            described=aggregation.described,
            peers=peers.discovery if peers is not None else None,
            descriptions=model.descriptions,
        )
    )


def _parts(foundation: Foundation, limits: Limits) -> set[Part]:
    """Return the parts that the server has."""
    parts = set(Part)
    if not isinstance(limits, FlowControl):
        parts.remove(Part.FLOWS)
    if not (foundation.options.is_announced and foundation.options.gates.get("APIServerIdentity", True)):
        parts.remove(Part.IDENTITY)
    return parts


def _checks(
    foundation: Foundation, stores: Stores, model: Model, hooks: PostStartHooks, shutting_down: threading.Event
) -> list[Check]:
    def answers(seconds: float) -> Callable[[], bool]:
        return StoreAnswers(model.store.revision, foundation.clock, seconds).passes

    options = foundation.options.storage
    return [
        Check("log", lambda: True),
        Check("loopback-serving-certificate", lambda: foundation.request_path.is_kept, never_ready=True),
        Check("etcd", answers(options.etcd_healthcheck_timeout)),
        Check("etcd-readiness", answers(options.etcd_readycheck_timeout), only_ready=True),
        *(Check(*check) for check in (stores.encryption.checks() if stores.encryption is not None else ())),
        Check("informer-sync", foundation.hosts.ready, only_ready=True),
        *hooks.checks(),
        Check("shutdown", lambda: not shutting_down.is_set(), only_ready=True),
    ]
