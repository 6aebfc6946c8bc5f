"""The options of lists and watches: resource versions, pages and how they may be combined.

Source: kubernetes apimachinery ``pkg/apis/meta/internalversion/validation``,
apiserver ``pkg/storage/util.go`` (ValidateListOptions).
"""

from __future__ import annotations

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.rest.continue_token import decode_token
from hyperkube_host.apiserver.rest.options import integer, refuse

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, BadRequest
from hyperkube.machinery.field import FieldError, Path, forbidden, not_supported

_MATCH = Path("resourceVersionMatch")
_INITIAL = Path("sendInitialEvents")
_LONGEST_VERSION = 20


@dataclass(frozen=True, slots=True)
class ListOptions:
    """How a list is read.

    Attributes:
        version: None for a consistent read, 0 for anything that is cached.
        exact: whether it shall be the state of exactly that version.
        start: the key below the resource's prefix to go on from.
    """

    version: int | None = None
    exact: bool = False
    limit: int = 0
    start: str = ""


def list_options(request: ApiRequest, prefix: str, *, is_cached: bool = True) -> ListOptions:
    """Return the options of a list.

    Args:
        request: the list.
        prefix: below the resource's own prefix: what the keys of all selected objects start with.
        is_cached: whether the answer comes from a cache, which has no pages of whatever it has.

    Raises:
        BadRequest: a number or the continue token cannot be read.
        Invalid: the options do not go together.
    """
    check(request, watch=False)
    token, limit = request.param("continue"), max(0, number(request, "limit"))
    number(request, "timeoutSeconds")
    if token:
        start, revision = decode_token(token, prefix)
        if request.param("resourceVersion") not in {"", "0"}:
            raise BadRequest("specifying resource version is not allowed when using continue")
        return ListOptions(revision if revision > 0 else None, revision > 0, limit, start)
    try:
        version = resource_version(request)
    except ApiError as error:
        raise BadRequest(f"invalid resource version: {error}") from error
    match = request.param("resourceVersionMatch")
    exact = match == "Exact" or (bool(limit) and bool(version) and not match)
    if version == 0 and is_cached:
        limit = 0
    return ListOptions(version, exact, limit)


def number(request: ApiRequest, name: str) -> int:
    """Return a number from the query, 0 when it is not given.

    Raises:
        BadRequest: it is no number, also when it is given without a value.
    """
    values = request.query.get(name)
    return integer(values[0]) if values else 0


def resource_version(request: ApiRequest) -> int | None:
    """Return the resourceVersion of a read, None when it is not given.

    Raises:
        ApiError: it is no number.
    """
    text = request.param("resourceVersion")
    if not text:
        return None
    problem, digits = "", text.lstrip("0") or "0"
    if not text.isascii() or not text.isdigit():
        problem = "invalid syntax"
    elif len(digits) > _LONGEST_VERSION or int(digits) >= 1 << 64:
        problem = "value out of range"
    if problem:
        raise ApiError(f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {problem}')
    return int(digits)


def check(request: ApiRequest, *, watch: bool) -> None:
    """Refuse options that do not go together.

    Raises:
        Invalid: they do not.
    """
    match = request.param("resourceVersionMatch")
    initial = bool(request.query.get("sendInitialEvents"))
    matches = match or (not initial and request.param("resourceVersion") in {"", "0"})  # the default then is a match
    continued = watch and bool(matches and request.param("continue"))
    if not match and not initial and not continued:
        return
    errors = (
        _watch_errors(match, initial=initial, continued=continued)
        if watch
        else _list_errors(request, match, initial=initial)
    )
    refuse("ListOptions", errors)


def _watch_errors(match: str, *, initial: bool, continued: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if initial and match != "NotOlderThan":
        errors.append(forbidden(_MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if match and not initial:
        text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        errors.append(forbidden(_MATCH, text))
    if match and match != "NotOlderThan":
        errors.append(not_supported(_MATCH, match, ["NotOlderThan"]))
    if continued:
        errors.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return errors


def _list_errors(request: ApiRequest, match: str, *, initial: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    version = request.param("resourceVersion")
    if initial:
        errors.append(forbidden(_INITIAL, "sendInitialEvents is forbidden for list"))
    if not match:
        return errors
    if not version:
        errors.append(forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
    if request.param("continue"):
        errors.append(forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    if match not in {"Exact", "NotOlderThan"}:
        errors.append(not_supported(_MATCH, match, ["Exact", "NotOlderThan", ""]))
    if match == "Exact" and version == "0":
        errors.append(forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    return errors


def wants_initial_events(request: ApiRequest) -> bool | None:
    """Return the request's ``sendInitialEvents``, None when it is not given."""
    if not request.query.get("sendInitialEvents"):
        return None
    return flag(request.query, "sendInitialEvents")
