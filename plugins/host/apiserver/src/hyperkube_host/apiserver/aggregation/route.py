"""The way to another server: where its service's endpoints are, and who the request says it comes from.

Source: kubernetes kube-aggregator ``pkg/apiserver/{handler_proxy,resolvers}.go``.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from urllib.parse import quote, urlencode

from hyperkube_host.apiserver.aggregation.kept_connections import KeptConnections
from hyperkube_host.apiserver.aggregation.remotes import Remote, Remotes
from hyperkube_host.apiserver.health.health import text
from hyperkube_host.apiserver.options import AggregationOptions
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_lib.serving.exchange import Answer, RelayUpgrade

from hyperkube.hookspecs.stored_objects import Objects
from hyperkube.kinds.resources import ENDPOINT_SLICES, SERVICES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, labels_of
from hyperkube.machinery.users import UserInfo

_SERVICE_LABEL = "kubernetes.io/service-name"


class Unreachable(Exception):
    """There is no way to a service: `reason` and the text are those of the condition ``Available``."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def address_of(objects: Objects, remote: Remote) -> tuple[str, int]:
    """Return host and port of a server behind a service.

    Raises:
        Unreachable: the service is not there, or nothing is behind it.
    """
    where = f'service/{remote.service} in "{remote.namespace}"'
    try:
        service = objects.get(SERVICES, remote.service, remote.namespace)
    except NotFound as error:
        raise Unreachable("ServiceNotFound", f"{where} is not present") from error
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or ""), remote.port
    port = next((one for one in spec.get("ports") or () if one.get("port") == remote.port), None)
    if port is None:
        raise Unreachable("ServicePortError", f"{where} is not listening on port {remote.port}")
    found = [one for one in objects.list(ENDPOINT_SLICES, remote.namespace) if _belongs(one, remote.service)]
    if not found:
        raise Unreachable("EndpointsNotFound", f"cannot find endpointslices for {where}")
    for candidate in found:
        address = _ready_address(candidate, port.get("name") or "")
        if address is not None:
            return address
    name = port.get("name") or ""
    raise Unreachable("MissingEndpoints", f'endpoints for {where} have no addresses with port name "{name}"')


def _belongs(candidate: Object, service: str) -> bool:
    return labels_of(candidate).get(_SERVICE_LABEL) == service


def _ready_address(candidate: Object, port_name: str) -> tuple[str, int] | None:
    if candidate.get("addressType") == "FQDN":
        return None  # a name may lead anywhere, and elsewhere the next time
    number = next(
        (one.get("port") for one in candidate.get("ports") or () if (one.get("name") or "") == port_name), None
    )
    if number is None:
        return None
    for endpoint in candidate.get("endpoints") or ():
        if (endpoint.get("conditions") or {}).get("ready") is not False and endpoint.get("addresses"):
            return str(endpoint["addresses"][0]), int(number)
    return None


def identity_headers(user: UserInfo) -> list[tuple[str, str]]:
    """Return the headers by which a front proxy says who asks."""
    headers = [("X-Remote-User", user.name)]
    if user.uid:
        headers.append(("X-Remote-Uid", user.uid))
    headers += [("X-Remote-Group", group) for group in user.groups]
    return headers + [
        (f"X-Remote-Extra-{quote(key, safe='')}", value) for key, values in user.extra.items() for value in values
    ]


@dataclass(frozen=True, slots=True)
class Routes:
    """Finds who answers a request elsewhere; objects are read from this server's own cache."""

    remotes: Remotes
    objects: Objects
    options: AggregationOptions
    dial: Dial | None = None
    """What connects to the servers; None: nothing does but the request itself."""
    kept: KeptConnections | None = None
    """Where the requests that this server sends by itself find a connection, and leave it; None: each has its own."""

    def answer(self, request: ApiRequest) -> Answer | None:
        """Return how a request gets to the server that serves its group version; None when that is this one."""
        if not self.remotes:
            return None
        parts = request.path.split("/")
        if len(parts) < 4 or parts[1] != "apis":
            return None
        remote = self.remotes.find(parts[2], parts[3])
        if remote is None:
            return None
        if not remote.available:
            return text("service unavailable\n", 503)
        try:
            return self.relay(remote, target_of(request), request.user)
        except Unreachable:
            return text("service unavailable\n", 503)

    def relay(self, remote: Remote, path: str, user: UserInfo) -> RelayUpgrade:
        """Return the way to a path of another server.

        Raises:
            Unreachable: there is none now.
        """
        host, port = address_of(self.objects, remote)
        return RelayUpgrade(
            host=host,
            port=port,
            path=path,
            dial=self.dial,
            ca_data=remote.ca if remote.is_checked else "",
            ca_file=_machine_authorities() if remote.is_checked and not remote.ca else "",
            server_name=f"{remote.service}.{remote.namespace}.svc",
            certificate_file=self.options.proxy_client_cert_file,
            key_file=self.options.proxy_client_key_file,
            headers=identity_headers(user),
            redirects=False,
            withheld=("x-remote-",),
        )


def _machine_authorities() -> str:
    return ssl.get_default_verify_paths().cafile or ""


def target_of(request: ApiRequest) -> str:
    """Return path and query of a request, percent-encoded."""
    path = quote(request.path, safe="/:@!$&'()*+,;=~")
    query = urlencode([(name, value) for name, values in request.query.items() for value in values])
    return f"{path}?{query}" if query else path


Elsewhere = Callable[[ApiRequest], Answer | None]
"""Returns the answer to a request that another server has to answer, None for all others."""


def first_of(*ways: Elsewhere) -> Elsewhere:
    """Return what asks one after the other."""

    def answer(request: ApiRequest) -> Answer | None:
        return next((found for way in ways if (found := way(request)) is not None), None)

    return answer
