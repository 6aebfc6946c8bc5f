"""Puts together what the server answers that is no resource: see `Paths` for how it is asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.aggregation.descriptions import RemoteOpenApi
from hyperkube_host.apiserver.aggregation.remotes import Remotes
from hyperkube_host.apiserver.explain.records import Explanations
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.max_in_flight import Limits
from hyperkube_host.apiserver.health.health import Health
from hyperkube_host.apiserver.options import AddressOptions, Options
from hyperkube_host.apiserver.promise import Promise
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.routes.discovery import Discovery
from hyperkube_host.apiserver.routes.explanations import ExplanationPages
from hyperkube_host.apiserver.routes.flowcontrol import DebugPages
from hyperkube_host.apiserver.routes.logs import MachineLogs
from hyperkube_host.apiserver.routes.metrics import CONTENT_TYPE
from hyperkube_host.apiserver.routes.openapi import OpenApiPages
from hyperkube_host.apiserver.routes.openid_metadata import CONFIGURATION, KEYS, OpenIdPages
from hyperkube_host.apiserver.routes.paths import Page, Paths
from hyperkube_host.apiserver.routes.profiling import PATHS, Debugging
from hyperkube_host.apiserver.serializer.encode import ok, wants_pretty
from hyperkube_lib.serving.exchange import Answer
from hyperkube_lib.serving.zpages import Zpages

from hyperkube.hookspecs.descriptions import Descriptions
from hyperkube.machinery import release
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

if TYPE_CHECKING:
    from hyperkube_host.apiserver.peerproxy.peer_discovery import PeerDiscovery

_NAME = "apiserver"
"""What the server calls itself; source: kubernetes apiserver ``pkg/server/genericapiserver.go`` (PrepareRun)."""


class Sources(Record):
    """What is shown: the parts of a server that have something to say of themselves.

    Attributes:
        peers: what other servers of the cluster serve, None where none is asked.
        metrics: returns them in Prometheus' text format.
        descriptions: returns what describes types.
    """

    options: Options
    clock: Clock
    logger: logging.Logger
    registry: Registry
    health: Health
    metrics: Callable[[], bytes]
    limits: Limits
    explanations: Explanations
    remotes: Remotes
    described: RemoteOpenApi
    peers: PeerDiscovery | None
    descriptions: Callable[[], Descriptions]


def root_paths(server: Sources) -> Paths:
    """Return what answers for all paths of a server that are no resource."""
    options, address = server.options, address_of(server.options.address)
    openid = OpenIdPages(options.service_accounts, address)
    promised = Promise[Paths]("the list of paths")
    zpages = Zpages(_NAME, server.clock, options.flagz, lambda: promised.get().listed(), options.gates)
    pages: dict[str, Page] = {
        "/metrics": lambda _request: ok(server.metrics(), media_type=CONTENT_TYPE),
        "/metrics/slis": lambda _request: ok(server.health.indicators(), media_type=CONTENT_TYPE),
        **{path: partial(_zpage, zpages) for path in zpages.offered},
    }
    discovery = Discovery(server.registry, server_address=address, remotes=server.remotes, peers=server.peers)
    openapi = OpenApiPages(server.registry, release.SHORT, server.descriptions, server.described)
    logs = MachineLogs() if options.features.enable_logs_handler else None
    asked = "enable-logs-handler" in options.given
    features = options.features
    swagger = None
    if features.compat or features.enable_swagger_ui:
        from hyperkube_host.apiserver.routes.swagger import SwaggerPages

        swagger = SwaggerPages(openapi.swagger, user_interface=features.enable_swagger_ui)
    services: dict[str, Page] = {CONFIGURATION: openid.configuration, KEYS: openid.keys}
    unlisted = _unlisted(server)
    return promised.keep(
        Paths(discovery, server.health, openapi, pages, services, unlisted, logs, lists_logs=asked, swagger=swagger)
    )


def _zpage(zpages: Zpages, request: ApiRequest) -> Answer:
    return zpages.page(request.path, request.headers.get("accept", ""), pretty=wants_pretty(request))


def _unlisted(server: Sources) -> Mapping[str, Page]:
    debugging = Debugging(server.options, server.clock, server.logger)
    limits = server.limits
    flows = DebugPages(limits, server.clock).pages() if isinstance(limits, FlowControl) else {}
    return {**dict.fromkeys(PATHS, debugging.page), **ExplanationPages(server.explanations).pages(), **flows}


def address_of(options: AddressOptions) -> str:
    """Return the server's own host and port as clients are told, empty when it listens nowhere."""
    if external := options.external_hostname:
        return external if ":" in external else f"{external}:{options.secure_port}"
    address = options.advertise_address or options.bind_address
    return f"{address}:{options.secure_port}" if address else ""
