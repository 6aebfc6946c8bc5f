"""Where a node's kubelet is and how the API server proves itself to it.

Source: kubernetes ``pkg/kubelet/client/kubelet_client.go``.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial

import orjson
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_lib.serving.exchange import RelayUpgrade, Response

from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import ApiError, BadRequest, InternalError, NotFound
from hyperkube.machinery.objects import Object, name_of

DEFAULT_PORT = 10250
_log = logging.getLogger("hyperkube.apiserver")
_ADDRESS_TYPES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")


def address_of(node: Object, preferred: Sequence[str]) -> str:
    """Return the address by which the API server reaches a node.

    Raises:
        InternalError: the node has none of the preferred types.
    """
    addresses = (node.get("status") or {}).get("addresses") or []
    for kind in preferred:
        for entry in addresses:
            if entry.get("type") == kind and entry.get("address"):
                return str(entry["address"])
    listed = " ".join(f"{{{entry.get('type')} {entry.get('address')}}}" for entry in addresses)
    raise InternalError.because(f"no preferred addresses found; known addresses: [{listed}]")


def port_of(node: Object, default: int = DEFAULT_PORT) -> int:
    """Return the port of a node's kubelet: the one it published, or the default."""
    endpoints = (node.get("status") or {}).get("daemonEndpoints") or {}
    return int((endpoints.get("kubeletEndpoint") or {}).get("Port") or default)


def _is_silent(node: Object) -> bool:
    """Tell whether nothing listens for the node: a simulated one that publishes no port."""
    status = node.get("status") or {}
    runtime = str((status.get("nodeInfo") or {}).get("containerRuntimeVersion", ""))
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    return runtime.startswith("hollow://") and not endpoint.get("Port")


def relay_to(
    services: Services,
    node: Object,
    path: str,
    *,
    refusal: Callable[[int, bytes], Response] | None = None,
) -> RelayUpgrade:
    """Return the answer that passes a request on to a node's kubelet, as ``--kubelet-*`` say.

    Without a client certificate a token tells the kubelet who asks; never over plain HTTP.

    Raises:
        BadRequest: the node is simulated, and no kubelet of it listens.
        InternalError: the node has no usable address.
    """
    if _is_silent(node):
        raise BadRequest(f"node {name_of(node)!r} is simulated: its containers run no program and have no output")
    options = services.options.kubelets
    with_token = options.kubelet_https and not options.kubelet_client_certificate
    return RelayUpgrade(
        host=address_of(node, options.kubelet_preferred_address_types),
        port=port_of(node, options.kubelet_port),
        path=path,
        ca_file=options.kubelet_certificate_authority,
        certificate_file=options.kubelet_client_certificate,
        key_file=options.kubelet_client_key,
        tls=options.kubelet_https,
        connect_seconds=options.kubelet_timeout,
        dial=dialler(services),
        headers=[("Authorization", f"Bearer {services.kubelet_tokens.token(name_of(node))}")] if with_token else [],
        refusal=refusal,
    )


def dialler(services: Services) -> Callable[[str, int], socket.socket] | None:
    """Return what dials through a proxy or the nodes of the moment, None where they are reached directly."""
    tunnels = services.ssh_tunnels
    if tunnels is None:
        return services.egress.get("cluster")
    wanted = services.options.kubelets.kubelet_preferred_address_types
    nodes = []
    for node in services.objects.list(NODES, ""):
        try:
            nodes.append(address_of(node, wanted))
        except InternalError as error:
            _log.debug("no way through node %s: %s", name_of(node), error)
    return partial(tunnels.dial, nodes)


def as_status(code: int, body: bytes) -> Response:
    """Return a kubelet's plain refusal as a Status.

    Source: kubernetes apiserver ``pkg/registry/generic/rest/response_checker.go``.
    """
    text = body.decode("utf-8", "replace")
    error: ApiError
    if code == 400:
        error = BadRequest(text)
    elif code == 404:
        error = NotFound(text or "the server could not find the requested resource")
    elif code == 500:
        error = InternalError.because(text)
    else:
        error = ApiError(text)
        error.status_code = code
    return Response(
        status=error.status_code, headers=[("Content-Type", "application/json")], body=orjson.dumps(error.status())
    )
