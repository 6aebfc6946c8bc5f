"""Proxies: ``nodes/N/proxy``, ``pods/P/proxy`` and ``services/S/proxy``, with the ``scheme:name:port`` form of names.

Source: kubernetes ``pkg/registry/core/{node,pod,service}`` (ResourceLocation),
apimachinery ``pkg/util/net/port_split.go``.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from hyperkube_host.apiserver.connect.addresses import check_proxyable, is_proxyable
from hyperkube_host.apiserver.connect.kubelets import address_of, dialler, port_of, relay_to
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_lib.serving.exchange import Answer, RelayUpgrade, Response

from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from hyperkube.machinery.errors import BadRequest, NotFound, ServiceUnavailable
from hyperkube.machinery.field import quote as quoted
from hyperkube.machinery.objects import Object, labels_of

_SCHEMES = frozenset({"", "http", "https"})
_SAFE = "/:@!$&'()*+,;=~"
_DIGITS = 5
_SERVICE_LABEL = "kubernetes.io/service-name"


def split_name(name: str, kind: str) -> tuple[str, str, str]:
    """Return (scheme, name, port) of ``name``, ``name:port`` or ``scheme:name:port``, of something of that kind.

    Raises:
        BadRequest: it has another form.
    """
    parts = name.split(":")
    scheme, plain, port = "", name, ""
    if len(parts) == 2:
        plain, port = parts
    elif len(parts) == 3:
        scheme, plain, port = parts
    if len(parts) > 3 or not plain or scheme not in _SCHEMES:
        raise BadRequest(f'invalid {kind} request "{name}"')
    return scheme, plain, port


def _path(request: ApiRequest) -> str:
    tail = "/" + quote(request.info.rest, safe=_SAFE)
    if request.path.endswith("/") and not tail.endswith("/"):
        tail += "/"
    return tail + _query(request)


def _query(request: ApiRequest) -> str:
    query = urlencode([(name, value) for name, values in request.query.items() for value in values])
    return f"?{query}" if query else ""


def _redirect(request: ApiRequest) -> Response | None:
    """Return the answer to a request for a proxy without a slash at its end: relative links need one."""
    if request.info.rest or request.path.endswith("/") or request.method not in {"GET", "HEAD"}:
        return None
    if "upgrade" in request.headers:
        return None
    location = quote(request.path, safe=_SAFE) + "/" + _query(request)
    return Response(status=301, headers=[("Location", location)])


def proxy(services: Services, request: ApiRequest, target: Target) -> Answer:
    """Pass a request on to a node's kubelet, a pod, or an endpoint of a service."""
    resource = target.served.spec.resource
    if resource == NODES:
        answer: Answer = _node(services, request, target)
    elif resource == PODS:
        answer = _pod(services, request, target)
    else:
        answer = _service(services, request, target)
    return _redirect(request) or answer


def _relay(services: Services, host: str, port: int, request: ApiRequest, *, tls: bool) -> RelayUpgrade:
    from hyperkube_host.apiserver.connect.proxied import Prefix

    path = _path(request)
    prefix = _before(request)
    own = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    links = Prefix(prefix, frozenset({own, request.headers.get("host", "")} - {""}))
    uri = quote(prefix, safe=_SAFE) + path.partition("?")[0]
    headers = [("X-Forwarded-Uri", uri)]
    return RelayUpgrade(
        host=host, port=port, path=path, tls=tls, headers=headers, answered=links.answered, dial=dialler(services)
    )


def _before(request: ApiRequest) -> str:
    """Return the path of the proxy itself, without what the request asks for behind it."""
    path = request.path.removesuffix("/")
    return path.removesuffix(f"/{request.info.rest}") if request.info.rest else path


def _node(services: Services, request: ApiRequest, target: Target) -> Answer:
    """Return the way to a node's kubelet, or to another port of the node."""
    scheme, name, port = split_name(target.name, "node")
    kubelets, node = services.options.kubelets, services.objects.get(NODES, name)
    if not port or port == str(port_of(node, kubelets.kubelet_port)):
        return relay_to(services, node, _path(request))
    number = _number(port)
    address = check_proxyable(address_of(node, kubelets.kubelet_preferred_address_types), services.options)
    return _relay(services, address, number, request, tls=scheme == "https")


def _number(port: str) -> int:
    """Return a port that is given by its number.

    Raises:
        BadRequest: it is none.
    """
    if port.isascii() and port.isdigit() and 0 < int(port[-_DIGITS:]) < 1 << 16 and not port[:-_DIGITS].strip("0"):
        return int(port)
    raise BadRequest(f"invalid port {quoted(port)}")


def _pod(services: Services, request: ApiRequest, target: Target) -> Answer:
    scheme, name, port = split_name(target.name, "pod")
    pod = services.objects.get(PODS, name, target.namespace)
    address = (pod.get("status") or {}).get("podIP")
    if not address or not is_proxyable(address, services.options):
        raise BadRequest("address not allowed")
    ports = [
        entry.get("containerPort")
        for container in (pod.get("spec") or {}).get("containers") or []
        for entry in container.get("ports") or []
    ]
    default = next((entry for entry in ports if entry), 443 if scheme == "https" else 80)
    chosen = _number(port) if port.isdigit() else default
    return _relay(services, address, int(chosen), request, tls=scheme == "https")


def _service(services: Services, request: ApiRequest, target: Target) -> Answer:
    scheme, name, port = split_name(target.name, "service")
    service = services.objects.get(SERVICES, name, target.namespace)
    port_name = _port_name(service, name, port)
    found = False
    for candidate in services.objects.list(ENDPOINT_SLICES, target.namespace):
        if labels_of(candidate).get(_SERVICE_LABEL) != name:
            continue
        found = True
        location = _location(candidate, port_name)
        if location is not None:
            if not is_proxyable(location[0], services.options):
                raise ServiceUnavailable("address not allowed")
            return _relay(services, *location, request, tls=scheme == "https")
    if not found:
        raise NotFound.about(target.served.group_resource, name)
    raise ServiceUnavailable(f'no endpoints available for service "{name}"')


def _port_name(service: Object, name: str, port: str) -> str:
    """Return the name of the service port that a request names by name or number.

    Whether the service has a port of that name, its endpoints tell.

    Raises:
        ServiceUnavailable: the service has no port of that number.
    """
    ports = (service.get("spec") or {}).get("ports") or []
    if not port and len(ports) == 1:
        return str(ports[0].get("name", ""))
    for entry in ports:
        if port and (entry.get("name") == port or str(entry.get("port")) == port):
            return str(entry.get("name", ""))
    if not port.isdigit():
        return port
    raise ServiceUnavailable(f'no service port {port} found for service "{name}"')


def _location(candidate: Object, port_name: str) -> tuple[str, int] | None:
    if candidate.get("addressType") == "FQDN":
        return None  # a name may lead anywhere, and elsewhere the next time
    for entry in candidate.get("ports") or []:
        if (entry.get("name") or "") != port_name:
            continue
        for endpoint in candidate.get("endpoints") or []:
            ready = (endpoint.get("conditions") or {}).get("ready")
            if ready is not False and endpoint.get("addresses"):
                return endpoint["addresses"][0], int(entry["port"])
    return None
