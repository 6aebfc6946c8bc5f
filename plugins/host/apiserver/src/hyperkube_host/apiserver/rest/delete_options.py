"""DeleteOptions: from the body of a DELETE or from its query.

Source: kubernetes apiserver ``pkg/endpoints/handlers/delete.go``, apimachinery ``pkg/apis/meta/v1/validation``.
"""

from __future__ import annotations

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.resources.meta_types import META_GROUP, meta_schema
from hyperkube_host.apiserver.rest.options import dry_run_errors, integer, refuse
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.machinery.field import Path, invalid, not_supported
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object

IGNORE_READ_ERROR = "ignoreStoreReadErrorWithClusterBreakingPotential"
"""The option that deletes what cannot be read, past finalizers, preconditions and admission."""
_NOT_WITH_UNSAFE = ("dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions")
_POLICIES = ("Foreground", "Background", "Orphan", "nil")


def delete_options(services: Services, request: ApiRequest) -> Object:
    """Return the options of a deletion.

    Raises:
        BadRequest: the body or a number in the query cannot be read.
        Invalid: an option has a wrong value.
    """
    return checked(_from_body(services, request) if request.body or request.content else _from_query(request))


def checked(options: Object) -> Object:
    """Return the options of a deletion, the shortest grace in place of a negative one.

    Raises:
        Invalid: an option has a wrong value.
    """
    _check(options)
    grace = options.get("gracePeriodSeconds")
    if grace is not None and grace < 0:
        options["gracePeriodSeconds"] = 1
    return options


def _from_body(services: Services, request: ApiRequest) -> Object:
    kind = GroupVersionKind(META_GROUP, "v1", "DeleteOptions")
    options = services.decoder.decode_shared(request, kind, meta_schema("DeleteOptions"))
    dry_run = [value for value in request.query.get("dryRun") or [] if value]
    if dry_run and not options.get("dryRun"):
        options["dryRun"] = dry_run
    return options


def _from_query(request: ApiRequest) -> Object:
    options: Object = {"kind": "DeleteOptions", "apiVersion": f"{META_GROUP}/v1"}
    if grace := request.query.get("gracePeriodSeconds"):
        options["gracePeriodSeconds"] = integer(grace[0])
    if request.query.get("orphanDependents"):
        options["orphanDependents"] = flag(request.query, "orphanDependents")
    if request.query.get("propagationPolicy"):
        options["propagationPolicy"] = request.param("propagationPolicy")
    if dry_run := list(request.query.get("dryRun") or []):
        options["dryRun"] = dry_run
    if request.query.get(IGNORE_READ_ERROR):
        options[IGNORE_READ_ERROR] = flag(request.query, IGNORE_READ_ERROR)
    return options


def _check(options: Object) -> None:
    policy = options.get("propagationPolicy")
    errors = []
    if policy is not None and options.get("orphanDependents") is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid(Path("propagationPolicy"), policy, text))
    if policy is not None and policy not in _POLICIES[:3]:
        errors.append(not_supported(Path("propagationPolicy"), policy, _POLICIES))
    if options.get(IGNORE_READ_ERROR):
        together = [name for name in _NOT_WITH_UNSAFE if options.get(name) is not None and options[name] != []]
        text = "cannot be set together with .{}"
        errors += [invalid(Path(IGNORE_READ_ERROR), True, text.format(name)) for name in together]
    refuse("DeleteOptions", errors + dry_run_errors(options.get("dryRun") or []))
