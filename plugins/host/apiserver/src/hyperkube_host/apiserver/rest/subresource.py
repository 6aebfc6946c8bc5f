"""Subresources that are actions or computed views: answered by their handlers; and virtual resources.

Source: kubernetes apiserver ``pkg/endpoints/handlers/{create,update,patch}.go`` for named creates and for ``/scale``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.create import admit_virtual, place
from hyperkube_host.apiserver.rest.options import create_options
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.update import check_name
from hyperkube_lib.structured_merge.managed_fields import Managed

from hyperkube.hookspecs.api import Subresource, SubresourceHandler
from hyperkube.machinery.errors import BadRequest, Conflict, InternalError, MethodNotAllowed
from hyperkube.machinery.objects import Object, resource_version_of

if TYPE_CHECKING:
    from hyperkube_host.apiserver.rest.scale import ScaledObjects

_NO_CUSTOM_SCALE = (
    "no kind is registered for the type v1.Scale in scheme "
    '"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"'
)
"""What upstream says of every Scale of a custom resource that it cannot read, for want of the type in that scheme."""


def create_virtual(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer a POST to a resource that is not stored.

    Raises:
        MethodNotAllowed: nothing serves it.
    """
    served = target.served
    handler = served.spec.create
    if handler is None:
        raise MethodNotAllowed.about(served.group_resource, "create")
    options = create_options(request, "CreateOptions")
    obj = services.decoder.decode(request, served.kind, served.codec)
    place(obj, target)
    call = services.call(request, target, body=obj)
    admission = admit_virtual(services, call, target, obj, options)
    call.body = admission.written()
    return _created(target, handler(call))


def serve(services: Services, request: ApiRequest, target: Target, sub: Subresource) -> ObjectResult:
    """Answer a request to a subresource that has a handler."""
    handler = sub.handler
    if handler is None:
        raise MethodNotAllowed.about(target.served.group_resource, request.info.verb)
    verb = request.info.verb
    if verb == "get":
        return ObjectResult(target.served, handler(services.call(request, target)))
    if verb == "create":
        return _post(services, request, target, sub, handler)
    if verb == "update":
        try:
            body = services.decoder.decode(request, sub.kind, target.served.codec_of(sub))
        except BadRequest as error:
            if target.served.custom and sub.name == "scale":
                raise BadRequest(_NO_CUSTOM_SCALE) from error
            raise
        place(body, target)
        check_name(body, target.name)
        return _put(services, request, target, handler, body, "UpdateOptions")
    return _patch(services, request, target, sub, handler)


def _post(
    services: Services, request: ApiRequest, target: Target, sub: Subresource, handler: SubresourceHandler
) -> ObjectResult:
    options = create_options(request, "CreateOptions")
    body = services.decoder.decode(request, sub.kind, target.served.codec_of(sub), also=sub.also_accepts)
    place(body, target)
    call = services.call(request, target, body=body)
    admission = admit_virtual(services, call, target, body, options)
    call.body = admission.written()
    return _created(target, handler(call))


def _created(target: Target, answer: Object) -> ObjectResult:
    if answer.get("kind") == "Status" and "code" not in answer:
        answer = {**answer, "code": 201}
    return ObjectResult(target.served, answer, status=201)


def _put(
    services: Services,
    request: ApiRequest,
    target: Target,
    handler: SubresourceHandler,
    body: Object,
    kind: str,
    owners: Managed | None = None,
) -> ObjectResult:
    options = create_options(request, kind)
    call = services.call(request, target, body=body, verb="update")
    if target.sub is not None and target.sub.name == "scale":
        call.objects = _scaled_objects()(services, request, target, target.sub, owners)
    old = _current(services, request, target, handler)
    admission = services.admission_request(call, target, "UPDATE", obj=body, old=old, options=options)
    services.admission.mutate(admission)
    services.admission.validate(admission)
    call.body = admission.written()
    return ObjectResult(target.served, handler(call))


def _current(services: Services, request: ApiRequest, target: Target, handler: SubresourceHandler) -> Object | None:
    """Return the subresource as it is, None when it cannot be shown yet (a scale without replicas)."""
    try:
        return handler(services.call(request, target, verb="get"))
    except InternalError:
        return None


def _patch(
    services: Services, request: ApiRequest, target: Target, sub: Subresource, handler: SubresourceHandler
) -> ObjectResult:
    """Patch what the subresource is now; a write that came between makes it read and patch anew."""
    while True:
        old = _current(services, request, target, handler)
        if old is None:
            workload = services.objects.get(target.served.spec.resource, target.name, target.namespace)
            old = _unset_scale()(workload, sub)
        body, owners = _patched()(services, request, target, sub, old)
        try:
            return _put(services, request, target, handler, body, "PatchOptions", owners)
        except Conflict:
            # A patch that names a version wants that one. Otherwise the conflict is with the version that was read
            # above: it is one to retry if there is a newer one by now, and a refusal of its own kind if there is not.
            now = services.objects.get(target.served.spec.resource, target.name, target.namespace)
            version = resource_version_of(old)
            if resource_version_of(body) != version or resource_version_of(now) == version:
                raise


@cache
def _scaled_objects() -> type[ScaledObjects]:
    from hyperkube_host.apiserver.rest.scale import ScaledObjects  # the other parts need nothing of it

    return ScaledObjects


@cache
def _unset_scale() -> Callable[[Object, Subresource], Object]:
    from hyperkube_host.apiserver.rest.scale import unset_scale

    return unset_scale


@cache
def _patched() -> Callable[[Services, ApiRequest, Target, Subresource, Object], tuple[Object, Managed | None]]:
    from hyperkube_host.apiserver.rest.patched_part import patched_part  # with all kinds of patches

    return patched_part
