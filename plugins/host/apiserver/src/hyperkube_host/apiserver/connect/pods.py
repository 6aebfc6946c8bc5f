"""Pods: logs, exec, attach and port-forward, passed on to the kubelet of the pod's node.

Source: kubernetes ``pkg/registry/core/pod/{strategy.go,rest/{log,subresources}.go}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from hyperkube_host.apiserver.connect.kubelets import as_status, relay_to
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.options import integer
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_lib.serving.exchange import Answer, Passed, Response

from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import BadRequest, Invalid, NotFound
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported
from hyperkube.machinery.field import quote as quoted
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import TimeError, parse_time

_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_LOG_PROTOCOLS = ("binary.k8s.io", "base64.binary.k8s.io")
_LOG_NUMBERS = ("sinceSeconds", "tailLines", "limitBytes")
_LOG_STREAMS = ("All", "Stderr", "Stdout")
_NO_PORTS = "cannot convert to []int32: strconv.ParseUint: parsing {text}: {why}"
_PORT_DIGITS = 5


def log(services: Services, request: ApiRequest, target: Target) -> Answer:
    """Pass a request for a container's log on."""
    streams = services.options.gates.get("PodLogsQuerySplitStreams", False)
    errors = _log_errors(request) + _stream_errors(request, can_select=streams)
    if errors:
        raise Invalid.about(GroupKind("", "PodLogOptions"), target.name, errors)
    pod = services.objects.get(target.served.spec.resource, target.name, target.namespace)
    container = container_of(request, pod)
    if not (pod.get("spec") or {}).get("nodeName"):
        return Response(status=204)
    node = _node(services, target, pod)
    query = {name: request.param(name) for name in (*_LOG_NUMBERS, "sinceTime", "stream") if request.param(name)}
    query |= {name: "true" for name in ("follow", "previous", "timestamps") if flag(request.query, name)}
    path = f"/containerLogs/{quote(target.namespace)}/{quote(target.name)}/{quote(container)}?{urlencode(query)}"
    way = relay_to(services, node, path.rstrip("?"), refusal=as_status)
    way.answered, way.websocket_protocols = _as_text, _LOG_PROTOCOLS
    return way


def _as_text(headers: list[tuple[str, str]]) -> Passed:
    """Return the headers of a kubelet's answer; whatever it says, a log is plain text."""
    return Passed([("Content-Type", "text/plain"), *(pair for pair in headers if pair[0].lower() != "content-type")])


def _log_errors(request: ApiRequest) -> list[FieldError]:
    """Return what is wrong with the options of a log: each is read before any is checked."""
    since, has_time = _number(request, "sinceSeconds"), _has_time(request)
    tail, limit = _number(request, "tailLines"), _number(request, "limitBytes")
    errors: list[FieldError] = []
    if tail is not None and tail < 0:
        errors.append(invalid(Path("tailLines"), tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        errors.append(invalid(Path("limitBytes"), limit, "must be greater than 0"))
    if since is not None and has_time:
        errors.append(forbidden(Path("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif since is not None and since < 1:
        errors.append(invalid(Path("sinceSeconds"), since, "must be greater than 0"))
    return errors


def _stream_errors(request: ApiRequest, *, can_select: bool) -> list[FieldError]:
    """Return what is wrong with the stream that is asked for: without the feature, that any is."""
    if not request.query.get("stream"):
        return []
    stream, path = request.param("stream"), Path("stream")
    if not can_select:
        return [forbidden(path, "may not be specified")]
    if stream not in _LOG_STREAMS:
        return [not_supported(path, stream, _LOG_STREAMS)]
    if stream != "All" and request.param("tailLines"):
        return [forbidden(Path("[]"), "`tailLines` and specific `stream` are mutually exclusive for now")]
    return []


def _number(request: ApiRequest, name: str) -> int | None:
    text = request.param(name)
    return integer(text) if text else None


def _has_time(request: ApiRequest) -> bool:
    """Tell whether the lines are wanted since a time.

    Raises:
        BadRequest: it is none; ``null`` is one, as old clients wrote it.
    """
    text = request.param("sinceTime")
    try:
        if text and text != "null":
            parse_time(text)
    except TimeError as error:
        raise BadRequest(str(error)) from error
    return bool(request.query.get("sinceTime"))


def forwarded_ports(request: ApiRequest) -> list[int]:
    """Return the ports that a port-forward asks for, each value one or several with commas.

    Raises:
        BadRequest: one is no number of 16 bits.
    """
    return [_port(text) for value in request.query.get("ports") or [] for text in value.split(",")]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise BadRequest(_NO_PORTS.format(text=quoted(text), why="invalid syntax"))
    port = int(text[-_PORT_DIGITS:])
    if text[:-_PORT_DIGITS].strip("0") or port >= 1 << 16:
        raise BadRequest(_NO_PORTS.format(text=quoted(text), why="value out of range"))
    return port


def stream(services: Services, request: ApiRequest, target: Target, kind: str) -> Answer:
    """Pass exec, attach or port-forward on."""
    pod = services.objects.get(target.served.spec.resource, target.name, target.namespace)
    place = f"{quote(target.namespace)}/{quote(target.name)}"
    if kind == "portforward":
        node = _host(services, target, pod)
        ports = [("port", port) for port in forwarded_ports(request)]
        return relay_to(services, node, f"/portForward/{place}?{urlencode(ports)}".rstrip("?"))
    container = container_of(request, pod)
    node = _host(services, target, pod)
    query = _stream_query(request, with_command=kind == "exec")
    return relay_to(services, node, f"/{kind}/{place}/{quote(container)}?{urlencode(query)}")


def _stream_query(request: ApiRequest, *, with_command: bool) -> Sequence[tuple[str, str]]:
    names = (("stdin", "input"), ("stdout", "output"), ("stderr", "error"), ("tty", "tty"))
    query = [(theirs, "1") for ours, theirs in names if flag(request.query, ours)]
    if with_command:
        query += [("command", word) for word in request.query.get("command") or []]
    return query


def container_of(request: ApiRequest, pod: Object) -> str:
    """Return the container that a request is about: the named one, the default one, or the only one.

    Raises:
        BadRequest: there is no such container, or there are several to choose from.
    """
    meta, spec = pod["metadata"], pod.get("spec") or {}
    own = [container["name"] for container in spec.get("containers") or []]
    others = [
        container["name"]
        for member in ("initContainers", "ephemeralContainers")
        for container in spec.get(member) or []
    ]
    wanted = request.param("container") or (meta.get("annotations") or {}).get(_DEFAULT_CONTAINER, "")
    if wanted:
        if wanted not in (*own, *others):
            raise BadRequest(f"container {wanted} is not valid for pod {meta['name']}")
        return str(wanted)
    if len(own) == 1:
        return str(own[0])
    if not own:
        raise BadRequest(f"a container name must be specified for pod {meta['name']}")
    text = f"a container name must be specified for pod {meta['name']}, choose one of: [{' '.join(own)}]"
    inits = [container["name"] for container in spec.get("initContainers") or []]
    raise BadRequest(text + (f" or one of the init containers: [{' '.join(inits)}]" if inits else ""))


def _host(services: Services, target: Target, pod: Object) -> Object:
    if not (pod.get("spec") or {}).get("nodeName"):
        raise BadRequest(f"pod {target.name} does not have a host assigned")
    return _node(services, target, pod)


def _node(services: Services, target: Target, pod: Object) -> Object:
    """Return the pod's node; that it is not there is said of the pods, as Kubernetes says it."""
    name = pod["spec"]["nodeName"]
    try:
        return services.objects.get(NODES, name)
    except NotFound as error:
        raise NotFound.about(target.served.group_resource, name) from error
