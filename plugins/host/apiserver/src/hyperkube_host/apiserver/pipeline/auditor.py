"""`Auditor`: follows requests through the server and hands an event of each stage to the backends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from hyperkube_host.apiserver.audit.backends import AuditFailed, Backend
from hyperkube_host.apiserver.audit.event import AuditEvent
from hyperkube_host.apiserver.audit.policy import Level, Policy, Stage
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_lib.serving.exchange import Answer, ExecUpgrade, HttpRequest, Response, StreamResponse
from hyperkube_lib.serving.finite_streams import EndingSource, is_finite

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, InternalError
from hyperkube.machinery.objects import Object

_SWITCHING = 101
_JSON = "application/json"

Result = TypeVar("Result")


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
        self.may_block = any(backend.may_block for backend, _ in self._backends)

    def wants(self, attributes: Attributes) -> bool:
        """Tell whether anything is recorded of such a request."""
        return self._policy.wanted(attributes).level > Level.None_

    def begin(self, api: ApiRequest, *, uri: str, peer: str) -> AuditEvent | None:
        """Record that a request has come; None if nothing is recorded of it.

        Raises:
            InternalError: the event cannot be kept, and a backend insists.
        """
        attributes = api.info.attributes(api.user)
        wanted = self._policy.wanted(attributes)
        if wanted.level is Level.None_:
            return None
        audit_event = AuditEvent(
            audit_id=api.audit_id,
            config=wanted,
            verb=attributes.verb,
            uri=uri,
            user=api.user,
            addresses=_addresses(api, peer),
            agent=api.headers.get("user-agent", ""),
            reference=_reference(attributes),
            annotations=api.annotations,
            received_at=self._clock.now(),
        )
        api.audit_event = audit_event
        self._emit(audit_event, Stage.REQUEST_RECEIVED, first=True)
        return audit_event

    def refused(self, request: HttpRequest, api: ApiRequest, answer: Answer) -> None:
        """Record a request whose credentials were wrong."""
        attributes = api.info.attributes(api.user)
        wanted = replace(self._policy.wanted(attributes), level=Level.Metadata)
        if self._policy.wanted(attributes).level is Level.None_:
            return
        audit_event = AuditEvent(
            audit_id=api.audit_id, config=wanted, verb=attributes.verb, uri=request.uri, user=api.user,
            addresses=_addresses(api, request.peer[0]), agent=api.headers.get("user-agent", ""),
            reference=_reference(attributes), annotations=api.annotations, received_at=self._clock.now(),
        )  # fmt: skip
        if isinstance(answer, Response):
            audit_event.log_response(answer.status, answer.body, _media_type(answer))
        self._emit(audit_event, Stage.RESPONSE_STARTED)

    def complete(self, audit_event: AuditEvent, api: ApiRequest, answer: Answer, *, crashed: bool = False) -> None:
        """Record the answer; of one that takes its time its beginning now, and its end when it ends."""
        audit_event.log_request_bytes(api.body, api.headers.get("content-type") or _JSON)
        if isinstance(answer, Response):
            audit_event.log_response(answer.status, answer.body, _media_type(answer))
            self._emit(audit_event, Stage.PANIC if crashed else Stage.RESPONSE_COMPLETE)
            return
        audit_event.status = {
            "metadata": {},
            "code": answer.status if isinstance(answer, StreamResponse) else _SWITCHING,
        }
        if not is_finite(answer):
            self._emit(audit_event, Stage.RESPONSE_STARTED)

        def finish() -> None:
            self._emit(audit_event, Stage.RESPONSE_COMPLETE)

        if isinstance(answer, StreamResponse):
            answer.source = EndingSource(answer.source, finish)
        elif isinstance(answer, ExecUpgrade):
            answer.serve = _then(answer.serve, finish)
        else:
            finish()  # the edge relays these by itself and does not tell when they end

    def around(self, api: ApiRequest, uri: str, call: Callable[[], Result]) -> Result:
        """Record a request of this process while `call` answers it.

        Raises:
            ApiError: what `call` raises.
        """
        audit_event = self.begin(api, uri=uri, peer="127.0.0.1")
        if audit_event is None:
            return call()
        if api.content is not None and audit_event.config.level >= Level.Request:
            audit_event.request_object = api.content
        try:
            result = call()
        except ApiError as error:
            status = error.status()
            audit_event.status = {key: value for key, value in status.items() if key not in {"kind", "apiVersion"}}
            self._emit(audit_event, Stage.RESPONSE_COMPLETE)
            raise
        if isinstance(result, ObjectResult) and result.obj is not None:
            audit_event.log_response_object(result.obj, result.status)
        else:
            audit_event.status = {"metadata": {}, "code": getattr(result, "status", 200)}
        self._emit(audit_event, Stage.RESPONSE_COMPLETE)
        return result

    def _emit(self, audit_event: AuditEvent, stage: Stage, *, first: bool = False) -> None:
        if stage in audit_event.config.omitted_stages:
            return
        event: Object = audit_event.at_stage(stage, self._clock.now())
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


Argument = TypeVar("Argument")


def _then(serve: Callable[[Argument], None], finish: Callable[[], None]) -> Callable[[Argument], None]:
    def both(channels: Argument) -> None:
        try:
            serve(channels)
        finally:
            finish()

    return both


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
