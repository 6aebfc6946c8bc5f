"""The objects that the API server itself answers for: namespaces, its own Service, API services, what delegates need.

Source: kubernetes ``pkg/controlplane/controller/{systemnamespaces,kubernetesservice,clusterauthenticationtrust}``,
kube-aggregator ``pkg/controllers/autoregister``.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from pathlib import Path

import orjson
from hyperkube_host.apiserver.options import AddressOptions, Options
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_lib.client_certificates.noted import guarded_notes
from hyperkube_lib.service_account_tokens import TRACKING, TRACKING_KEY
from hyperkube_lib.serving.published_authority import REQUEST_HEADER_NOTES

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "default")
HTTPS_PORT = 6443
"""The port of a server that listens on none itself."""
_ELSEWHERE = "192.0.2.1"
"""An address of documentation (RFC 5737): routed like any other, never reached."""
_SERVICE_LABELS = {"component": "apiserver", "provider": "kubernetes"}


class SystemObjects:
    """Makes the objects from the server's options."""

    def __init__(self, registry: Registry, options: Options, clock: Clock) -> None:
        self._registry = registry
        self._options = options
        self._clock = clock

    def objects(self) -> Iterable[Object]:
        """Return all of them, in the order of creation."""
        for name in NAMESPACES:
            yield _named("v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name})
        yield from self._ranges()
        yield self._service()
        yield from self._endpoints()
        yield self._authentication()
        yield self._token_tracking()
        yield from self._api_services()

    def _networks(self) -> list[str]:
        return self._options.control_plane.service_cluster_ip_range.split(",")

    def _first_address(self) -> str:
        return str(ip_network(self._networks()[0], strict=False)[1])

    def _ranges(self) -> Iterable[Object]:
        cidr = _named("networking.k8s.io/v1", "ServiceCIDR", "kubernetes")
        condition = self._condition("Ready", "", "Kubernetes default Service CIDR is ready")
        yield {**cidr, "spec": {"cidrs": self._networks()}, "status": {"conditions": [condition]}}

    def _condition(self, kind: str, reason: str, message: str) -> Object:
        now = format_time(self._clock.now())
        return {"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message}

    def _port(self) -> int:
        return self._options.address.secure_port or HTTPS_PORT

    def _service(self) -> Object:
        address = self._first_address()
        service = _named("v1", "Service", "kubernetes", "default", labels=_SERVICE_LABELS)
        options = self._options.control_plane
        port: Object = {
            "name": "https",
            "protocol": "TCP",
            "port": options.kubernetes_service_port,
            "targetPort": self._port(),
        }
        node_port = options.kubernetes_service_node_port
        if node_port:
            port["nodePort"] = node_port
        return {
            **service,
            "spec": {
                "type": "NodePort" if node_port else "ClusterIP",
                "clusterIP": address,
                "clusterIPs": [address],
                "ipFamilies": ["IPv6" if ":" in address else "IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "sessionAffinity": "None",
                "ports": [port],
            },
        }

    def _endpoints(self) -> Iterable[Object]:
        address = own_address(self._options.address)
        if not address:
            return
        labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
        endpoints = _named("v1", "Endpoints", "kubernetes", "default", labels=labels)
        port = {"name": "https", "port": self._port(), "protocol": "TCP"}
        yield {**endpoints, "subsets": [{"addresses": [{"ip": address}], "ports": [port]}]}
        labels = {"kubernetes.io/service-name": "kubernetes"}
        slices = _named("discovery.k8s.io/v1", "EndpointSlice", "kubernetes", "default", labels=labels)
        family = "IPv6" if ":" in address else "IPv4"
        endpoint = {"addresses": [address], "conditions": {"ready": True}}
        yield {**slices, "addressType": family, "endpoints": [endpoint], "ports": [port]}

    def _authentication(self) -> Object:
        """Return what servers that delegate authentication to this one must know."""
        data: dict[str, str] = {}
        options = self._options.authentication
        if options.client_ca_file:
            data["client-ca-file"] = Path(options.client_ca_file).read_text(encoding="utf-8")
        if options.requestheader_client_ca_file:
            data["requestheader-client-ca-file"] = Path(options.requestheader_client_ca_file).read_text("utf-8")
            lists = {
                "allowed-names": options.requestheader_allowed_names,
                "extra-headers-prefix": options.requestheader_extra_headers_prefix,
                "group-headers": options.requestheader_group_headers,
                "uid-headers": options.requestheader_uid_headers,
                "username-headers": options.requestheader_username_headers,
            }
            data |= {f"requestheader-{name}": orjson.dumps(values).decode() for name, values in lists.items()}
            if notes := guarded_notes(options.requestheader_client_ca_file):
                data[REQUEST_HEADER_NOTES] = notes
        made = _named("v1", "ConfigMap", "extension-apiserver-authentication", "kube-system")
        return {**made, "data": data}

    def _token_tracking(self) -> Object:
        """Return since when uses of tokens in secrets are written down."""
        made = _named("v1", "ConfigMap", TRACKING, "kube-system")
        return {**made, "data": {TRACKING_KEY: f"{self._clock.now():%Y-%m-%d}"}}

    def _api_services(self) -> Iterable[Object]:
        condition = self._condition("Available", "Local", "Local APIServices are always available")
        for version in self._registry.versions():
            if version.custom:
                continue
            name = f"{version.version}.{version.group}"
            spec: Object = {"group": version.group} if version.group else {}
            spec |= {
                "version": version.version,
                "groupPriorityMinimum": version.group_priority,
                "versionPriority": version.version_priority,
            }
            labels = {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
            made = _named("apiregistration.k8s.io/v1", "APIService", name, labels=labels)
            yield {**made, "spec": spec, "status": {"conditions": [condition]}}


def own_address(options: AddressOptions) -> str:
    """Return the address that a server with these flags tells the cluster; empty when it has none."""
    address = options.advertise_address or options.bind_address
    return outward_address() if address in {"", "0.0.0.0", "::"} else address


def outward_address() -> str:
    """Return the machine's address on the way to others, empty when there is no such way; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE, 9))
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _named(
    api_version: str, kind: str, name: str, namespace: str = "", labels: Mapping[str, str] | None = None
) -> Object:
    meta: Object = {"name": name}
    if namespace:
        meta["namespace"] = namespace
    if labels:
        meta["labels"] = dict(labels)
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}
