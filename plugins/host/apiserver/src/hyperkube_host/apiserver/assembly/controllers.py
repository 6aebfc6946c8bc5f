"""The last stage: what runs beside requests, each through the server's own API."""

from __future__ import annotations

from hyperkube_host.apiserver.aggregation.controller import ApiServiceController
from hyperkube_host.apiserver.assembly.access import Access
from hyperkube_host.apiserver.assembly.foundation import LOGGER, Foundation
from hyperkube_host.apiserver.assembly.model import Model
from hyperkube_host.apiserver.assembly.serving import Serving
from hyperkube_host.apiserver.controlplane.api_server_identity import ApiServerIdentity, identity_of
from hyperkube_host.apiserver.controlplane.bootstrap import Bootstrap
from hyperkube_host.apiserver.custom.controller import DefinitionController
from hyperkube_host.apiserver.flowcontrol.configuration import FlowConfiguration
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.health.post_start_hooks import Part
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.hookspecs.api import ApiHooks
from hyperkube.machinery.record import Record
from hyperkube.plugin import PluginHost


class Controllers(Record):
    """The server's own controllers.

    Attributes:
        flows: None where requests are merely counted.
        identity: None for a server without a socket.
    """

    bootstrap: Bootstrap
    definitions: DefinitionController
    api_services: ApiServiceController
    flows: FlowConfiguration | None
    identity: ApiServerIdentity | None

    def close(self) -> None:
        """Stop all."""
        self.bootstrap.close()
        for part in (self.identity, self.flows, self.api_services, self.definitions):
            if part is not None:
                part.close()


def build_controllers(
    foundation: Foundation, model: Model, access: Access, services: Services, serving: Serving, *, bootstrapped: bool
) -> Controllers:
    """Return the controllers, and have the health checks ask them; `bootstrapped`: the first objects are there."""
    options, clock, loopback, hooks = foundation.options, foundation.clock, foundation.loopback, serving.hooks
    remote = serving.aggregation
    controllers = Controllers(
        bootstrap=Bootstrap(services, model.api, access.authz, options, clock, LOGGER, done=bootstrapped),
        definitions=DefinitionController(
            model.registry, loopback, clock, LOGGER, rules_of=model.object_rules, egress=foundation.egress
        ),
        api_services=ApiServiceController(
            model.registry, remote.remotes, remote.routes, remote.described, loopback, clock, LOGGER
        ),
        flows=_flows(foundation, model, serving.limits, model.api),
        identity=identity_of(options, model.store, foundation.root, loopback, clock, model.registry, serving.peers),
    )
    hooks.follow(Part.DEFINITIONS, lambda: controllers.definitions.synced)
    hooks.follow(Part.SYSTEM_OBJECTS, lambda: controllers.bootstrap.done)
    hooks.follow(Part.API_PLUGINS, lambda: hooks.is_done(Part.PLUGINS) and foundation.hosts.ready("api"))
    if controllers.flows is not None:
        hooks.follow(Part.FLOWS, controllers.flows.synced)
    if controllers.identity is not None:
        hooks.follow(Part.IDENTITY, controllers.identity.begun)
    return controllers


def _flows(foundation: Foundation, model: Model, limits: object, api: PluginHost[ApiHooks]) -> FlowConfiguration | None:
    if not isinstance(limits, FlowControl):
        return None
    return FlowConfiguration(
        limits,
        model.registry,
        foundation.informers,
        foundation.loopback,
        lambda: (obj for objects in api.hook.api_bootstrap_objects() for obj in objects),
        foundation.clock,
        LOGGER,
    )
