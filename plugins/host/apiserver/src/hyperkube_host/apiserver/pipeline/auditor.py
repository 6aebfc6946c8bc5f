"""`Auditor`: follows requests through the server and hands an event of each stage to the backends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from hyperkube_host.apiserver.audit.backends import AuditFailed, Backend
from hyperkube_host.apiserver.audit.policy import Level, Policy
from hyperkube_host.apiserver.audit.trail import Trail
from hyperkube_host.apiserver.request.calls import ApiRequest, Single
from hyperkube_lib.serving.exchange import Answer, ChunkSource, ExecUpgrade, HttpRequest, Response, StreamResponse

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, InternalError
from hyperkube.machinery.objects import Object

_SWITCHING = 101
_JSON = "application/json"

Outcome = TypeVar("Outcome")


class Auditor:
    """Records requests as a policy wants.

    Args:
        policy: what is recorded.
        backends: where; the flag of each says whether a request is refused when its first event cannot be kept.
        clock: for the times of events.
        logger: is told of events that are lost.
    """

    def __init__(
        self, policy: Policy, backends: Sequence[tuple[Backend, bool]], clock: Clock, logger: logging.Logger
    ) -> None:
        self._policy = policy
        self._backends = tuple(backends)
        self._clock = clock
        self._logger = logger

    def wants(self, attributes: Attributes) -> bool:
        """Tell whether anything is recorded of such a request."""
        return self._policy.wanted(attributes).level > Level.None_

    def begin(self, api: ApiRequest, *, uri: str, peer: str) -> Trail | None:
        """Record that a request has come; None if nothing is recorded of it.

        Raises:
            InternalError: the event cannot be kept, and a backend insists.
        """
        attributes = api.info.attributes(api.user)
        wanted = self._policy.wanted(attributes)
        if wanted.level is Level.None_:
            return None
        trail = Trail(
            audit_id=api.audit_id,
            wanted=wanted,
            verb=attributes.verb,
            uri=uri,
            user=api.user,
            addresses=_addresses(api, peer),
            agent=api.headers.get("user-agent", ""),
            reference=_reference(attributes),
            annotations=api.annotations,
            received_at=self._clock.now(),
        )
        api.trail = trail
        self._emit(trail, "RequestReceived", first=True)
        return trail

    def refused(self, request: HttpRequest, api: ApiRequest, answer: Answer) -> None:
        """Record a request whose credentials were wrong."""
        attributes = api.info.attributes(api.user)
        wanted = replace(self._policy.wanted(attributes), level=Level.Metadata)
        if self._policy.wanted(attributes).level is Level.None_:
            return
        trail = Trail(
            audit_id=api.audit_id, wanted=wanted, verb=attributes.verb, uri=uri_of(request), user=api.user,
            addresses=_addresses(api, request.peer[0]), agent=api.headers.get("user-agent", ""),
            reference=_reference(attributes), annotations=api.annotations, received_at=self._clock.now(),
        )  # fmt: skip
        if isinstance(answer, Response):
            trail.answered(answer.status, answer.body, _media_type(answer))
        self._emit(trail, "ResponseStarted")

    def complete(self, trail: Trail, api: ApiRequest, answer: Answer, *, crashed: bool = False) -> None:
        """Record the answer; of one that takes its time its beginning now, and its end when it ends."""
        trail.took_bytes(api.body, api.headers.get("content-type") or _JSON)
        if isinstance(answer, Response):
            trail.answered(answer.status, answer.body, _media_type(answer))
            self._emit(trail, "Panic" if crashed else "ResponseComplete")
            return
        trail.status = {"metadata": {}, "code": answer.status if isinstance(answer, StreamResponse) else _SWITCHING}
        self._emit(trail, "ResponseStarted")

        def finish() -> None:
            self._emit(trail, "ResponseComplete")

        if isinstance(answer, StreamResponse):
            answer.source = _WatchedSource(answer.source, finish)
        elif isinstance(answer, ExecUpgrade):
            answer.serve = _then(answer.serve, finish)
        else:
            finish()  # the edge relays these by itself and does not tell when they end

    def around(self, api: ApiRequest, uri: str, call: Callable[[], Outcome]) -> Outcome:
        """Record a request of this process while `call` answers it.

        Raises:
            ApiError: what `call` raises.
        """
        trail = self.begin(api, uri=uri, peer="127.0.0.1")
        if trail is None:
            return call()
        if api.content is not None and trail.wanted.level >= Level.Request:
            trail.request_object = api.content
        try:
            outcome = call()
        except ApiError as error:
            status = error.status()
            trail.status = {key: value for key, value in status.items() if key not in {"kind", "apiVersion"}}
            self._emit(trail, "ResponseComplete")
            raise
        if isinstance(outcome, Single) and outcome.obj is not None:
            trail.gave(outcome.obj, outcome.status)
        else:
            trail.status = {"metadata": {}, "code": getattr(outcome, "status", 200)}
        self._emit(trail, "ResponseComplete")
        return outcome

    def _emit(self, trail: Trail, stage: str, *, first: bool = False) -> None:
        if stage in trail.wanted.omitted_stages:
            return
        event: Object = trail.event(stage, self._clock.now())
        for backend, insists in self._backends:
            try:
                backend.keep([event])
            except AuditFailed as error:
                self._logger.error("%s", error)  # noqa: TRY400  the cause is in the text; a trace tells no more
                if first and insists:
                    raise InternalError.because("failed to log the audit event") from error

    def close(self) -> None:
        """Keep what is buffered and let go of the backends."""
        for backend, _ in self._backends:
            backend.close()


class _WatchedSource:
    """A growing body that tells when it ends."""

    def __init__(self, inner: ChunkSource, finish: Callable[[], None]) -> None:
        self._inner = inner
        self._finish: Callable[[], None] | None = finish

    def subscribe(self, notify: Callable[[], None]) -> None:
        self._inner.subscribe(notify)

    def drain(self) -> Sequence[bytes] | None:
        return self._inner.drain()

    def close(self) -> None:
        self._inner.close()
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()


Argument = TypeVar("Argument")


def _then(serve: Callable[[Argument], None], finish: Callable[[], None]) -> Callable[[Argument], None]:
    def both(channels: Argument) -> None:
        try:
            serve(channels)
        finally:
            finish()

    return both


def uri_of(request: HttpRequest) -> str:
    """Return path and query as they were asked."""
    path = request.raw_path or request.path
    return f"{path}?{request.query_string}" if request.query_string else path


def _addresses(api: ApiRequest, peer: str) -> list[str]:
    """Return where a request came from, the first proxy's word first."""
    forwarded = [part.strip() for part in api.headers.get("x-forwarded-for", "").split(",")]
    found = [*forwarded, api.headers.get("x-real-ip", "").strip(), peer]
    return list(dict.fromkeys(address for address in found if address))


def _reference(attributes: Attributes) -> Object | None:
    if not attributes.is_resource:
        return None
    found = {
        "resource": attributes.resource,
        "namespace": attributes.namespace,
        "name": attributes.name,
        "apiGroup": attributes.group,
        "apiVersion": attributes.version,
        "subresource": attributes.subresource,
    }
    return {key: value for key, value in found.items() if value}


def _media_type(answer: Response) -> str:
    return next((value for name, value in answer.headers if name.lower() == "content-type"), "")
