"""Who owns which field: keeps ``metadata.managedFields`` up to date with every write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.rest.whole_seconds import WholeSeconds
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.field_sets import FieldSet
from hyperkube_lib.structured_merge.managed_fields import FieldScope
from hyperkube_lib.structured_merge.tracking import track_new, track_update

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.patch.refusal import PatchFailed
from hyperkube.machinery.schema import DecodeError

MANAGER_MAX = 128
_LONGEST = 1024
"""Characters of a User-Agent that are looked at; some may not be printable."""


def manager_of(request: ApiRequest) -> str:
    """Return the name of a request's field manager: as given, or the first word of the User-Agent.

    Source: kubernetes apiserver ``pkg/endpoints/handlers/create.go`` (managerOrUserAgent).
    """
    given = request.param("fieldManager")
    if given:
        return given
    return _manager_of(request.headers.get("user-agent", "").partition("/")[0][:_LONGEST])


@lru_cache(maxsize=512)
def _manager_of(agent: str) -> str:
    printable = "".join(char for char in agent if char.isprintable())
    return printable.encode()[:MANAGER_MAX].decode("utf-8", "ignore") or "unknown"


def scope_of(target: Target) -> FieldScope:
    """Return what field management must know about the place of a write; of one that never changes it is kept."""
    served = target.served
    place = target.sub.name if target.sub is not None else ""
    known = served.field_scopes.get(place)
    if known is None:
        known = _scope(served, place, _ignored(target))
        if not (served.custom or served.converts) and len(served.versions()) == 1:
            served.field_scopes[place] = known
    return known


def _scope(served: ServedResource, place: str, ignored: Mapping[str, FieldSet]) -> FieldScope:
    codec = served.codec
    return FieldScope(
        info=codec.type,
        api_version=served.kind.api_version,
        kind=served.kind.kind,
        subresource=place,
        ignored=ignored,
        ignored_text=repr(ignored),
        zero=lambda: codec.decode(None)[0],
        convert=served.in_version,
    )


def _ignored(target: Target) -> Mapping[str, FieldSet]:
    place = target.sub.name if target.sub is not None else ""
    served = target.served
    if not served.converts and len(served.versions()) == 1:
        paths = served.strategy.reset_fields.get(place, ())
        return _reset(served.kind.api_version, tuple(paths)) if paths else {}
    ignored: dict[str, FieldSet] = {}
    for version in served.versions():
        paths = version.strategy.reset_fields.get(place, ())
        ignored |= _reset(version.kind.api_version, tuple(paths)) if paths else {}
    return ignored


@lru_cache(maxsize=512)
def _reset(api_version: str, paths: tuple[str, ...]) -> Mapping[str, FieldSet]:
    """Return reset fields as field management has them; there is one for each strategy."""
    return {api_version: field_sets.from_paths([tuple(path.split(".")) for path in paths])}


@cache
def _apply_configuration() -> Callable[..., Object]:
    from hyperkube_lib.structured_merge.apply import apply_configuration  # the first apply asks for it

    return apply_configuration


@cache
def _converter_text() -> Callable[[DecodeError], str]:
    from hyperkube_host.apiserver.rest.patch_text import converter_text

    return converter_text


@dataclass(frozen=True, slots=True)
class FieldOwnership:
    """Tracks the owners of fields through updates, and merges server-side apply."""

    clock: Clock
    seconds: WholeSeconds

    def update(
        self, request: ApiRequest, target: Target, old: Object | None, new: Object, template: bytes = b""
    ) -> None:
        """Note in `new` that the request's manager set what differs from `old`, in place.

        `template` is the JSON that a new object was made from, but for its name and namespace, or other bytes that tell
        which members it has.
        """
        if template and not target.served.blanks:
            track_new(scope_of(target), new, manager_of(request), self.seconds.text(), template)
            return
        shown = target.served.blanks.shown
        seen = shown(new)
        track_update(scope_of(target), old and shown(old), seen, manager_of(request), self.seconds.text())
        if seen is not new:
            new["metadata"] = seen["metadata"]

    def apply(self, request: ApiRequest, target: Target, old: Object | None, applied: Object, *, force: bool) -> Object:
        """Return the object that applying `applied` makes of `old` (None: it is new).

        Raises:
            ApplyConflict: other managers own fields that would change, and `force` is not set.
            BadRequest: the configuration has another version, or carries managedFields.
            PatchFailed: a value is none of its type, such as base64 that cannot be read.
        """
        served = target.served
        old = old and served.blanks.shown(old)
        merged = _apply_configuration()(
            scope_of(target), old, applied, manager=manager_of(request), force=force, now=self.clock.now()
        )
        try:
            obj, _ = served.codec.decode(merged, report=False)
        except DecodeError as error:
            kind = f"{served.kind.group}/{served.kind.version}, Kind={served.kind.kind}"
            raise PatchFailed(
                f"failed to convert new object ({namespace_of(applied)}/{name_of(applied)}; {kind}) to proper version: "
                f"unable to convert unstructured object to {kind}: {_converter_text()(error)}"
            ) from error
        obj["kind"], obj["apiVersion"] = served.kind.kind, served.kind.api_version
        served.codec.default(obj)
        return obj
