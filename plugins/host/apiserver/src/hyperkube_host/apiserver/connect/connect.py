"""Connects a request to what answers it instead of the API server, after admission has seen it.

Source: kubernetes apiserver ``pkg/endpoints/handlers/rest.go`` (ConnectResource).
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube_host.apiserver.connect.pods import forwarded_ports, log, stream
from hyperkube_host.apiserver.connect.proxy import proxy
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.request.results import RawResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.hookspecs.api import Subresource
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import Forbidden, MethodNotAllowed
from hyperkube.machinery.objects import Object

_STREAMS = frozenset({"exec", "attach", "portforward"})
_CREATE_GATE = "AuthorizePodWebsocketUpgradeCreatePermission"
_FLAGS = ("stdin", "stdout", "stderr", "tty")


def connect(services: Services, request: ApiRequest, target: Target, sub: Subresource) -> RawResult:
    """Answer a request to a subresource that connects.

    Raises:
        BadRequest: an option cannot be read.
        Forbidden: it runs something, and the user may read but not create it.
        MethodNotAllowed: nothing is known of that subresource.
    """
    if sub.name == "log":
        return RawResult(log(services, request, target))
    call = services.call(request, target, verb="connect")
    admission = services.admission_request(
        call, target, "CONNECT", obj=_options(request, sub), annotations=request.annotations
    )
    services.admission.mutate(admission)
    services.admission.validate(admission)
    if sub.name in _STREAMS or (target.served.spec.resource == NODES and "upgrade" in request.headers):
        _insist_on_create(services, request, target)
    if sub.name in _STREAMS:
        return RawResult(stream(services, request, target, sub.name))
    if sub.name == "proxy":
        return RawResult(proxy(services, request, target))
    raise MethodNotAllowed.about(target.served.group_resource, request.info.verb)


def _insist_on_create(services: Services, request: ApiRequest, target: Target) -> None:
    """Insist that the user may create what a WebSocket asks for with GET: it does what SPDY asks for with POST.

    The proxy of a node leads to the same commands of the same pods, by the kubelet's own API.
    Source: kubernetes ``pkg/registry/core/pod/rest/authorize.go``.

    Raises:
        Forbidden: the user may not.
    """
    if request.info.verb == "create" or not services.options.gates.get(_CREATE_GATE, True):
        return
    decision = services.authorizer.authorize(replace(request.info.attributes(request.user), verb="create"))
    if not decision.allowed:
        raise Forbidden.about(target.served.group_resource, target.name, decision.reason)


def _options(request: ApiRequest, sub: Subresource) -> Object:
    """Return the request's query as the options object that admission plugins see."""
    options: Object = {"kind": sub.kind.kind, "apiVersion": sub.kind.api_version}
    for name in _FLAGS:
        if flag(request.query, name):
            options[name] = True
    if request.param("container"):
        options["container"] = request.param("container")
    if request.query.get("command"):
        options["command"] = list(request.query["command"])
    ports = forwarded_ports(request) if sub.name == "portforward" else []
    if ports:
        options["ports"] = ports
    if sub.name == "proxy" and request.info.rest:
        options["path"] = request.info.rest
    return options
