"""The paths at which explanations are served, to users who may read them: like any path, they are authorized."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from hyperkube_host.apiserver.explain.records import Change, Explanations, Refusal
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.routes.paths import Page
from hyperkube_host.apiserver.serializer.encode import NO_CACHE
from hyperkube_host.apiserver.serializer.path_errors import not_allowed
from hyperkube_lib.serving.exchange import Answer, Response

from hyperkube.machinery.intstr import parse_int

CHANGED = "/debug/admission/changed"
REFUSED = "/debug/admission/refused"


class ExplanationPages:
    """Answers `CHANGED` and `REFUSED`: the latest records first, chosen by query parameters.

    ``auditID`` chooses by request; ``resource`` (``deployments.apps``), ``namespace`` and ``name`` by object; ``limit``
    says how many.
    """

    def __init__(self, explanations: Explanations) -> None:
        self._explanations = explanations

    def pages(self) -> Mapping[str, Page]:
        """Return what answers which path."""
        return {CHANGED: self.changed, REFUSED: self.refused}

    def changed(self, request: ApiRequest) -> Answer:
        """Answer with what plugins changed."""
        found = [one for one in self._explanations.changes.latest_first() if _is_meant(one, request)]
        recorded = self._explanations.records_changes
        return _answer(request, {"recorded": recorded, "items": [one.shown() for one in _limited(found, request)]})

    def refused(self, request: ApiRequest) -> Answer:
        """Answer with what was refused."""
        found = [one for one in self._explanations.refusals.latest_first() if _is_meant(one, request)]
        return _answer(request, {"recorded": True, "items": [one.shown() for one in _limited(found, request)]})


def _limited(found: list[Change] | list[Refusal], request: ApiRequest) -> list[Change] | list[Refusal]:
    limit = parse_int(request.param("limit"))
    return found if limit is None or limit < 0 else found[:limit]


def _is_meant(record: Change | Refusal, request: ApiRequest) -> bool:
    subject = record.subject
    known = {
        "auditID": subject.audit_id,
        "resource": str(subject.resource),
        "namespace": subject.namespace,
        "name": subject.name,
    }
    return all(request.param(word) in {"", value} for word, value in known.items())


def _answer(request: ApiRequest, body: dict[str, object]) -> Answer:
    if request.method not in {"GET", "HEAD"}:
        raise not_allowed()
    return Response(headers=[("Content-Type", "application/json"), NO_CACHE], body=orjson.dumps(body))
