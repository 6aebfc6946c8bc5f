"""Renewal: a PUT that says again what is stored but for one time, as kubelets and leaders renew their leases.

Once the body is found to be the stored object, byte by byte but for a well-formed time, nothing of it has to be decoded
by its schema, put in order, filled in or validated again: it was, when it was stored. What is left is what depends on
who writes, and when: admission, the manager's entry in ``managedFields``, the store. Whatever is not as plain as that
goes the long way (`change`), which would make the same of it. The cache of a store in another process may be behind;
its object will do where it has the version that the client names, with which the store compares.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from hyperkube_host.apiserver.admission.chain import undo
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.change import store_change
from hyperkube_host.apiserver.rest.options import create_options
from hyperkube_host.apiserver.rest.ownership import manager_of, scope_of
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.stored import Current
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.tracking import renewed_entries
from hyperkube_lib.structured_merge.typed import Comparison
from hyperkube_lib.watch_cache.resource_cache import ANY_REVISION

from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
"""A metav1.MicroTime as it is stored."""
_LENGTH = 27
_TIMEOUT = {"timeout"}
"""The parameter that client-go adds for kubelets and for leaders, and that is looked at before."""


def renew(services: Services, request: ApiRequest, target: Target) -> ObjectResult | None:
    """Answer a PUT that is a renewal; return None for one that is none, or that another write has overtaken.

    Raises:
        ApiError: the body cannot be read, a plugin refuses, or the store fails.
    """
    served, member = target.served, target.served.strategy.renewed
    storage = served.stored()
    if request.content is not None or request.inside or request.audit_event is not None:
        return None
    if request.query and request.query.keys() != _TIMEOUT:
        return None
    if served.custom or served.converts or served.blanks or not storage.cache.loaded:
        return None
    cached = storage.cache.get(target.namespace, target.name, resource_version=ANY_REVISION)
    scope = scope_of(target)
    if cached is None or scope.ignored:
        return None
    document = services.decoder.read(request, served)
    if document.refusal is not None or document.has_duplicates():
        return None
    new = document.value
    if not _is_renewed(new, cached.body, member):
        return None
    old = orjson.loads(cached.body)
    entries = renewed_entries(
        scope,
        old["metadata"].get("managedFields") or (),
        _changes(member),
        manager_of(request),
        services.seconds.text(),
    )
    if entries is None:
        return None
    new["metadata"]["managedFields"] = entries
    return _written(services, request, target, Current(old, cached.revision), new)


@cache
def _changes(member: str) -> Comparison:
    """Return what a renewal changes, as owners of fields are told; shared: not to be changed."""
    return Comparison(modified=field_sets.from_paths([("spec", member)]))


def _is_renewed(new: Any, before: bytes, member: str) -> bool:
    """Tell whether an object is the one whose JSON is `before`, but for a time that is another one."""
    if new.__class__ is not dict:
        return False
    meta, spec = new.get("metadata"), new.get("spec")
    if meta.__class__ is not dict or spec.__class__ is not dict:
        return False
    time, version = spec.get(member), meta.pop("resourceVersion", None)
    if time.__class__ is not str or version is None or _TIME.fullmatch(time) is None:
        return False
    begin = before.rfind(b'"%b":"' % member.encode()) + len(member) + 4
    stored = before[begin : begin + _LENGTH].decode("utf-8", "replace")
    if stored == time:
        return False
    new["metadata"] = {"resourceVersion": version, **meta}  # where what is cached has it
    try:
        datetime.fromisoformat(time)
        spec[member] = stored
        is_same = orjson.dumps(new) == before
    except (ValueError, TypeError):  # no time, or nothing that JSON can hold
        return False
    spec[member] = time
    return is_same


def _written(
    services: Services, request: ApiRequest, target: Target, current: Current, new: Object
) -> ObjectResult | None:
    """Admit and store a renewal; return None if a plugin has changed it, or it came too late."""
    call = services.call(request, target, body=new)
    options = create_options(request, "UpdateOptions")
    admission = services.admission_request(
        call, target, "UPDATE", obj=new, old=current.obj, options=options, annotations=request.annotations
    )
    text = orjson.dumps(new)
    services.admission.mutate(admission)
    result = None
    try:
        if admission.written() is new and orjson.dumps(new) == text:
            services.admission.validate(admission)
            result = store_change(services, target, call, current, new)
    except ApiError:
        undo(admission)
        raise
    if result is None:
        undo(admission)
    return result
