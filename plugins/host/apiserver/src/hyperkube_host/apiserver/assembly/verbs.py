"""The fifth stage: what every request for a resource works with."""

from __future__ import annotations

from ipaddress import ip_network
from random import Random
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.admission.chain import AdmissionChain
from hyperkube_host.apiserver.admission.plugin_times import PluginTimes
from hyperkube_host.apiserver.admission.plugins import load_admission
from hyperkube_host.apiserver.assembly.access import Access
from hyperkube_host.apiserver.assembly.foundation import LOGGER, Foundation
from hyperkube_host.apiserver.assembly.model import Model
from hyperkube_host.apiserver.controlplane.component_status import ComponentHealth
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.plugins import hooks
from hyperkube_host.apiserver.promise import Promise
from hyperkube_host.apiserver.resources.known_kinds import KnownKinds
from hyperkube_host.apiserver.rest.objects import StoredObjects
from hyperkube_host.apiserver.rest.ownership import FieldOwnership
from hyperkube_host.apiserver.rest.services import LeasePool, Services
from hyperkube_host.apiserver.rest.whole_seconds import WholeSeconds
from hyperkube_host.apiserver.serializer.decode import BodyDecoder, Kinds
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.serving.turns import Turns

from hyperkube.hookspecs.api_services import ApiServices

if TYPE_CHECKING:
    from hyperkube_lib.serving.ssh_tunnels import SshTunnels


def build_services(
    foundation: Foundation,
    model: Model,
    access: Access,
    protobuf: Protobuf,
    components: ComponentHealth,
    turns: Turns | None = None,
) -> Services:
    """Load the admission plugins and return the parts that verbs use."""
    options, clock = foundation.options, foundation.clock
    admission = load_admission(options.admission, foundation.context, LOGGER)
    foundation.hosts.add(admission)
    services = Promise[Services]("what verbs work with")
    known, seconds = KnownKinds(model.registry), WholeSeconds(clock)
    return services.keep(
        Services(
            registry=model.registry,
            store=model.store,
            clock=clock,
            random=Random(),  # noqa: S311 -- name suffixes, no secrets
            authorizer=access.authorization,
            admission=AdmissionChain(
                hooks(admission, "admission_mutate"),
                hooks(admission, "admission_validate"),
                access.explanations,
                turns,
                PluginTimes(),
            ),
            decoder=BodyDecoder(Kinds(known.is_registered, known.is_version_of), protobuf),
            objects=StoredObjects(model.registry, services.get),
            ownership=FieldOwnership(clock, seconds),
            seconds=seconds,
            leases=LeasePool(model.store, clock, options.storage.lease_reuse_duration_seconds),
            logger=LOGGER,
            options=options,
            api=_api_services(options, access, components),
            kubelet_tokens=access.kubelet_tokens,
            ssh_tunnels=_tunnels(options),
            egress=foundation.egress,
        )
    )


def _api_services(options: Options, access: Access, components: ComponentHealth) -> ApiServices:
    accounts, cluster = options.service_accounts, options.control_plane
    lowest, _, highest = cluster.service_node_port_range.partition("-")
    return ApiServices(
        allow_privileged=cluster.allow_privileged,
        service_networks=tuple(ip_network(text) for text in cluster.service_cluster_ip_range.split(",")),
        node_ports=(int(lowest), int(highest)),
        event_seconds=int(options.storage.event_ttl),
        service_account_issuers=accounts.service_account_issuer,
        api_audiences=accounts.api_audiences,
        token_signer=access.signer,
        authenticate=access.review,
        component_health=components.status,
    )


def _tunnels(options: Options) -> SshTunnels | None:
    flags = options.kubelets
    if not flags.ssh_user:
        return None
    from hyperkube_lib.serving.ssh_tunnels import build_tunnels

    chooser = Random()  # noqa: S311 -- which node, no secret
    return build_tunnels(flags.ssh_user, flags.ssh_keyfile, flags.kubelet_port, chooser)
