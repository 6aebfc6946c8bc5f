"""A request's way: from its words to its result, wherever it came from.

HTTP requests come through ``handler``, those of this process through ``inprocess``;
both go through the same authorization, admission and verbs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from hyperkube_host.apiserver.aggregation.route import Elsewhere
from hyperkube_host.apiserver.authorization.union import Authorization, refusal
from hyperkube_host.apiserver.explain.records import Explanations
from hyperkube_host.apiserver.pipeline.dispatch import locate, serve
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import RawResult, Result
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.routes.paths import Paths
from hyperkube_host.apiserver.serializer.path_errors import PathNotFound
from hyperkube_lib.serving.exchange import Answer

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import ApiError, InternalError, ServiceUnavailable
from hyperkube.plugin.failures import described
from hyperkube.storage.store import GroupsWrites, StoreError, StoreFull, StoreUnavailable

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def _nowhere_else(_request: ApiRequest) -> Answer | None:
    return None


class Pipeline:
    """Authorizes requests and answers them."""

    def __init__(
        self,
        services: Services,
        authorization: Authorization,
        paths: Paths,
        logger: logging.Logger,
        *,
        elsewhere: Elsewhere = _nowhere_else,
        explanations: Explanations | None = None,
    ) -> None:
        self.services = services
        store = services.store
        self._expecting: Callable[[], AbstractContextManager[None]] = (
            store.expecting_write if isinstance(store, GroupsWrites) else nullcontext
        )
        self.elsewhere = elsewhere
        self._authorization = authorization
        self._explanations = explanations
        self._paths = paths
        self._logger = logger

    def authorize(self, request: ApiRequest) -> None:
        """Insist that the request's user may do this.

        Raises:
            Forbidden: they may not.
        """
        attributes = request.info.attributes(request.user)
        decision = self._authorization.authorize(attributes)
        if request.audit_event is not None:
            request.annotations["authorization.k8s.io/decision"] = "allow" if decision.allowed else "forbid"
            request.annotations["authorization.k8s.io/reason"] = decision.reason
        if not decision.allowed:
            raise self._refused(attributes, decision.reason, request.audit_id)

    def _refused(self, attributes: Attributes, reason: str, audit_id: str) -> ApiError:
        """Return the error, which has no name where it is raised: its traceback would refer to what refers to it."""
        error = refusal(attributes, reason)
        return error if self._explanations is None else self._explanations.forbidden(attributes, audit_id, error)

    def answer(self, request: ApiRequest) -> Result:
        """Return the result of an authorized request.

        Raises:
            ApiError: it is refused or fails; a bug becomes an `InternalError` and is logged.
        """
        elsewhere = self.elsewhere(request)
        return RawResult(elsewhere) if elsewhere is not None else self.answer_here(request)

    def answer_here(self, request: ApiRequest) -> Result:
        """Return the result of an authorized request that is this server's own.

        Raises:
            ApiError: as `answer`.
        """
        try:
            if not request.info.is_resource or request.path.startswith("//"):
                return RawResult(self._paths.answer(request))
            try:
                target = locate(self.services.registry, request.info)
            except PathNotFound:
                return RawResult(self._paths.missing(request))
            if request.info.verb not in _WRITES:
                return serve(self.services, request, target)
            with self._expecting():
                return serve(self.services, request, target)
        except ApiError:
            raise
        except StoreError as error:
            raise _store_failure(error) from error
        except Exception as error:
            self._logger.exception("%s %s failed", request.method or request.info.verb, request.path)
            raise InternalError.because(described(error)) from error


def _store_failure(error: StoreError) -> ApiError:
    if isinstance(error, StoreFull):
        return ServiceUnavailable(f"the store is full: {error}")
    if isinstance(error, StoreUnavailable):
        return ServiceUnavailable(f"the store does not answer: {error}")
    return InternalError.because(str(error))
