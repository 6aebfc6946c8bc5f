"""The API server as the edge sees it: authenticates, limits, runs the pipeline, writes the answer.

Source of the order: kubernetes apiserver ``pkg/server/config.go`` (DefaultBuildHandlerChain).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.authentication.union import Authentication, misplaced_token
from hyperkube_host.apiserver.authorization.union import Authorization
from hyperkube_host.apiserver.flowcontrol.flow_control import FlowControl
from hyperkube_host.apiserver.flowcontrol.max_in_flight import LimitedRequest, Limits, RequestState
from hyperkube_host.apiserver.health.health import text
from hyperkube_host.apiserver.pipeline.hot_reads import HotReads
from hyperkube_host.apiserver.pipeline.impersonation import Impersonation
from hyperkube_host.apiserver.pipeline.pipeline import Pipeline
from hyperkube_host.apiserver.pipeline.turn_taking import TurnTaking, priority
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import KnownPaths, RequestInfo, parse, watch_flag
from hyperkube_host.apiserver.request.warning_headers import warning_headers
from hyperkube_host.apiserver.routes.metrics import RequestMetrics
from hyperkube_host.apiserver.serializer.encode import Encoder
from hyperkube_host.apiserver.serializer.negotiation import PLAIN
from hyperkube_lib.serving.exchange import Answer, HttpRequest, Postponed, Response, StreamResponse
from hyperkube_lib.serving.finite_streams import EndingSource, gathered, is_finite
from hyperkube_lib.serving.priority import Priority
from hyperkube_lib.serving.turns import Turns

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.errors import ApiError, BadRequest, InternalError
from hyperkube.machinery.random import unique_id
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin.failures import described

if TYPE_CHECKING:
    from hyperkube_host.apiserver.pipeline.auditor import Auditor
    from hyperkube_host.apiserver.pipeline.tracing import RequestTracer

_LONG_RUNNING_PARTS = frozenset({"log", "exec", "attach", "portforward", "proxy"})
_MISPLACED_TOKEN = "the provided Authorization header contains extra space before the bearer token, and is ignored"  # noqa: S105 -- a text
SEAT_SECONDS = 60.0
"""How long the sending of an answer takes a seat at most: after that, Kubernetes breaks off what is no watch."""
UNKNOWN_USER = UserInfo("")
"""The user of a request whose credentials were wrong."""


@dataclass(slots=True)
class _Call:
    """One request on its way, from its bytes to its answer."""

    request: HttpRequest
    started: float
    audit_id: str
    api: ApiRequest | None = None
    limited: LimitedRequest | None = None
    crashed: bool = False

    @property
    def accept(self) -> str:
        """What the client accepts, for errors."""
        return self.request.headers.get("accept", "")


class ApiHandler:
    """The `Handler` of an API server."""

    def __init__(
        self,
        pipeline: Pipeline,
        encoder: Encoder,
        authentication: Authentication,
        authorization: Authorization,
        limits: Limits,
        metrics: RequestMetrics,
        clock: Clock,
        logger: logging.Logger,
        *,
        local_store: bool,
        audit: Auditor | None = None,
        turns: Turns | None = None,
        long_running: re.Pattern[str] | None = None,
        tracer: RequestTracer | None = None,
    ) -> None:
        self.audit = audit
        self.tracer = tracer
        self._long_running = long_running
        self._pipeline = pipeline
        self._encoder = encoder
        self._authentication = authentication
        gates = pipeline.services.options.gates
        self._impersonation = Impersonation(authorization, constrained=gates.get("ConstrainedImpersonation", True))
        self.limits = limits
        self._metrics = metrics
        self._clock = clock
        self._logger = logger
        self._random = Random()  # noqa: S311 -- tells requests apart, nothing more
        self.turns = turns
        self._paths = KnownPaths(clock.monotonic)
        self._turn_taking: TurnTaking | None = None
        if turns is not None:
            self._turn_taking = TurnTaking(pipeline.services, authentication, audit, clock, self._paths, turns.store)
        self._hot_reads: HotReads | None = None
        self.postponed_reads: HotReads | None = None
        if tracer is None:  # else a read leaves a span
            flows = limits if isinstance(limits, FlowControl) else None
            reads = HotReads(
                pipeline.services,
                encoder,
                authentication,
                authorization,
                metrics,
                clock,
                audit,
                flows,
                waited=not local_store,
            )
            self._hot_reads, self.postponed_reads = (reads, None) if local_store else (None, reads)

    def handle(self, request: HttpRequest) -> Answer | Postponed:
        """Answer one request, or say what it waits for; never raises."""
        call = _Call(request, self._clock.monotonic(), request.headers.get("audit-id") or unique_id(self._random))
        answer = self._guarded(call, self._begin)
        if answer is not None:
            return self._end(call, answer)
        if call.limited is not None and call.limited.state is RequestState.WAITING:
            return Postponed(wait=call.limited.subscribe, proceed=lambda: self._proceed(call))
        return self._proceed(call)

    def answer(self, request: HttpRequest) -> Answer:
        """Answer one request of this process, which never waits for a seat; never raises."""
        call = _Call(request, self._clock.monotonic(), request.headers.get("audit-id") or unique_id(self._random))
        answer = self._guarded(call, self._open)
        answer = self._end(call, answer) if answer is not None else self._proceed(call)
        return gathered(answer) if is_finite(answer) else answer

    def _proceed(self, call: _Call) -> Answer:
        answer: Answer | None = None
        try:
            answer = self._guarded(call, self._answer)
        finally:
            if call.limited is not None:
                self._release(call.limited, answer)
        return self._end(call, answer or self._encoder.error(call.api, InternalError("no answer"), call.accept))

    def _release(self, limited: LimitedRequest, answer: Answer | None) -> None:
        """Give the seat of a request back, of a large list when it has been sent, unless its client takes too long."""
        if not is_finite(answer):
            limited.finish()
            return
        seat = [limited.finish]

        def finish() -> None:
            with suppress(IndexError):  # timer and loop may both come: the first takes it out
                seat.pop()()

        timer = self._clock.call_later(SEAT_SECONDS, finish)

        def ended() -> None:
            timer.cancel()
            finish()

        answer.source = EndingSource(answer.source, ended)

    def _guarded(self, call: _Call, step: Callable[[_Call], Answer | None]) -> Answer | None:
        """Take a step; what it raises becomes the answer."""
        request = call.request
        try:
            return step(call)
        except ApiError as error:
            return self._encoder.error(call.api, error, call.accept)
        except Exception as error:
            call.crashed = True
            self._logger.exception("%s %s failed", request.method, request.path)
            return self._encoder.error(call.api, InternalError.because(described(error)), call.accept)

    def _open(self, call: _Call) -> Answer | None:
        """Find out who asks what."""
        request = call.request
        user = request.user or request.sender or self._authentication.authenticate(request)
        api = call.api = self._read(request, user, call.audit_id)
        if self.audit is not None:
            self.audit.begin(api, uri=request.uri, peer=request.peer[0])
        if request.sender is None:
            if misplaced_token(request.headers):
                api.warn(_MISPLACED_TOKEN)
            self._act(request, user, api)
        if api.query.get("timeout") and not self._runs_long(api.info):
            check_timeout(api.param("timeout"))
        return None

    def _act(self, request: HttpRequest, user: UserInfo, api: ApiRequest) -> None:
        """Let the request act as whom it names, if its user may.

        Raises:
            ApiError: the user may not, or it names none.
        """
        acting = self._impersonation.act_as(request, user, lambda: api.info.attributes(user))
        api.user = acting.user
        if api.audit_event is not None and api.user is not user:
            api.audit_event.acting_as, api.audit_event.constraint = acting.user, acting.constraint

    def _begin(self, call: _Call) -> Answer | None:
        """Find out who asks what, and count it in."""
        self._open(call)
        if call.api is not None and call.request.user is None and not self._is_exempt(call.api.info):
            call.limited = self.limits.enter(call.api)
        return None

    def _answer(self, call: _Call) -> Answer | None:
        """Answer a request that has a seat, or that was rejected."""
        api, limited = call.api, call.limited
        if api is None:
            return None
        if limited is not None and limited.state is RequestState.REJECTED:
            refused = text("Too many requests, please try again later.", 429)
            refused.headers.append(("Retry-After", "1"))
            return refused
        self._pipeline.authorize(api)
        elsewhere = self._pipeline.elsewhere(api)
        if elsewhere is not None:
            return elsewhere
        wanted = PLAIN
        if api.info.is_resource and api.info.subresource not in _LONG_RUNNING_PARTS:  # those are streams
            wanted = self._encoder.check(api)
        return self._encoder.encode(api, self._pipeline.answer_here(api), wanted)

    def _end(self, call: _Call, answer: Answer) -> Answer:
        """Complete the answer's headers, and write down that it was given."""
        api = call.api
        self._finish(answer, call)
        if api is not None and api.is_recorded_whole and is_finite(answer):
            answer = gathered(answer)
        if self.audit is not None:
            self._record(self.audit, call.request, api, answer, call.audit_id, crashed=call.crashed)
        if api is not None and is_finite(answer):
            answer.source = EndingSource(answer.source, partial(self._observe, call, api, answer))
        elif api is not None:
            self._observe(call, api, answer)
        return answer

    def _observe(self, call: _Call, api: ApiRequest, answer: Answer) -> None:
        """Count a request that is answered, of a large list when it has been sent."""
        seconds = self._clock.monotonic() - call.started
        self._metrics.observe(api, answer, seconds)
        if self.tracer is not None:
            self.tracer.answered(call.request, api, answer, seconds)

    def _record(
        self,
        audit: Auditor,
        request: HttpRequest,
        api: ApiRequest | None,
        answer: Answer,
        audit_id: str,
        *,
        crashed: bool,
    ) -> None:
        """Record the answer of a request, also of one whose user is unknown."""
        if api is None:
            audit.refused(request, self._read(request, UNKNOWN_USER, audit_id), answer)
        elif api.audit_event is not None:
            audit.complete(api.audit_event, api, answer, crashed=crashed)

    def _read(self, request: HttpRequest, user: UserInfo, audit_id: str) -> ApiRequest:
        query = request.query() if request.query_string else {}
        info = self._paths.read(request)
        if query and not info.name:  # of what has a name the query says nothing more
            info = parse(request.method, request.path, query)
        return ApiRequest(
            method=request.method,
            path=request.path,
            info=info,
            query=query,
            headers=request.headers,
            body=request.body,
            user=user,
            audit_id=audit_id,
            budget=request.budget,
            peer=request.peer,
        )

    def _finish(self, answer: Answer, call: _Call) -> None:
        if not isinstance(answer, Response | StreamResponse):
            return
        answer.headers.append(("Audit-Id", call.audit_id))
        if call.limited is not None:
            answer.headers += call.limited.headers
        if call.api is not None and call.api.warnings:
            answer.headers += warning_headers(call.api.warnings)

    def hot(self, request: HttpRequest) -> Response | None:
        """Answer a plain read from memory, or return None; never blocks."""
        return self._hot_reads.answer(request) if self._hot_reads is not None else None

    def takes_turns(self, request: HttpRequest) -> bool:
        """Tell whether the request may be handled on a turn: a write that waits for nothing but the store."""
        return self._turn_taking is not None and self._turn_taking.takes(request)

    def priority(self, request: HttpRequest) -> Priority:
        """Tell how soon the request has its turn."""
        return priority(request)

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether the request may stay open beyond the request timeout."""
        if not request.query_string:
            return self._runs_long(self._paths.read(request))
        return self._runs_long(parse(request.method, request.path, watch_flag(request.query_string)))

    def _runs_long(self, info: RequestInfo) -> bool:
        return info.verb in {"watch", "proxy"} or info.subresource in _LONG_RUNNING_PARTS or self._is_exempt(info)

    def _is_exempt(self, info: RequestInfo) -> bool:
        """Tell whether ``--long-running-request-regexp`` takes a request out of all limits."""
        return self._long_running is not None and self._long_running.search(info.path) is not None


def check_timeout(text: str) -> None:
    """Refuse a ``timeout`` in the URL that is no duration.

    Raises:
        BadRequest: it is none. Source: kubernetes apiserver ``pkg/endpoints/filters/request_deadline.go``.
    """
    try:
        parse_duration(text)
    except DurationError as error:
        raise BadRequest(f"invalid timeout specified in the request URL - {error}") from error
