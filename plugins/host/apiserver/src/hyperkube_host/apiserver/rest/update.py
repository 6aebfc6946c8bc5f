"""Update: a PUT replaces an object, its status, or another part of it; some resources create what is not there.

Source: kubernetes apiserver ``pkg/endpoints/handlers/update.go``.
"""

from __future__ import annotations

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest import stored
from hyperkube_host.apiserver.rest.change import Change, change
from hyperkube_host.apiserver.rest.create import place, store_new
from hyperkube_host.apiserver.rest.options import create_options
from hyperkube_host.apiserver.rest.renewal import renew
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.machinery.errors import BadRequest, Conflict, NotFound
from hyperkube.machinery.objects import Object


def update(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer a PUT to an object or to a part of it."""
    options = create_options(request, "UpdateOptions")
    served = target.served
    if served.strategy.renewed and target.sub is None:
        renewed = renew(services, request, target)
        if renewed is not None:
            return renewed
    new = _placed(services, request, target)
    check_name(new, target.name)
    call = services.call(request, target, body=new)
    current = stored.read(services.store, served, target.namespace, target.name, assume=True)
    creates = target.sub is None and served.strategy.allow_create_on_update
    if current is None and creates:
        return _create(services, request, target, new, options)

    bodies = [new]

    def produce(_old: Object) -> Object:
        """Return the body; it is decoded again for a further attempt, as the first one has changed it."""
        return bodies.pop() if bodies else _placed(services, request, target)

    write = Change(
        request=request,
        target=target,
        call=call,
        produce=produce,
        options=options,
        keeps=True,
        written=lambda _old: services.decoder.written(request, served.kind, served.codec),
    )
    try:
        return change(services, write, current)
    except NotFound:
        if current is None or not current.assumed or not creates:
            raise
        # What was assumed to be there is not.
        return _create(services, request, target, _placed(services, request, target), options)


def _placed(services: Services, request: ApiRequest, target: Target) -> Object:
    """Return the decoded body, in the namespace of the path."""
    obj = services.decoder.decode(request, target.served.kind, target.served.codec)
    place(obj, target)
    return obj


def _create(services: Services, request: ApiRequest, target: Target, new: Object, options: Object) -> ObjectResult:
    """Create the object instead: it is not there.

    Raises:
        Conflict: the client expects a certain object there.
        NotFound: it expects a certain version of it there.
    """
    meta = new["metadata"]
    if meta.get("uid"):
        why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: "
        raise Conflict.about(target.served.group_resource, target.name, why)
    if meta.get("resourceVersion") not in {None, "", "0"}:
        raise NotFound.about(target.served.group_resource, target.name)
    meta.pop("resourceVersion", None)
    if target.served.completes:
        target.served.default(new)
    services.ownership.update(request, target, None, new)
    call = services.call(request, target, body=new, verb="create")
    return store_new(services, request, target, call, new, options={**options, "kind": "CreateOptions"})


def check_name(obj: Object, name: str) -> None:
    """Insist that the object has the name in the path.

    Raises:
        BadRequest: it has another or none.
    """
    own = (obj.get("metadata") or {}).get("name")
    if not own:
        raise BadRequest(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if own != name:
        raise BadRequest(f"the name of the object ({own}) does not match the name on the URL ({name})")
