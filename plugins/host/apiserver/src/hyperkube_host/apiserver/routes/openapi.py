"""The OpenAPI paths: documents of version 2 and 3, named by hash so that clients keep them.

Source: kube-openapi ``pkg/handler``, ``pkg/handler3``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from functools import partial

import orjson
from hyperkube_host.apiserver.aggregation.descriptions import RemoteOpenApi
from hyperkube_host.apiserver.openapi import Document, OpenApi
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_lib.serving.exchange import Response

from hyperkube.hookspecs.descriptions import Descriptions

_V3 = "/openapi/v3/"


class OpenApiPages:
    """Answers ``/openapi/...``."""

    def __init__(
        self,
        registry: Registry,
        version: str,
        descriptions: Callable[[], Descriptions],
        remote: RemoteOpenApi | None = None,
    ) -> None:
        self._documents = OpenApi(
            partial(lambda served: [resource.spec for resource in served.resources()], registry),
            version=version,
            descriptions=descriptions,
        )
        registry.on_change(self._documents.invalidate)
        self._remote = remote
        self._merged: tuple[tuple[str, int], Document] | None = None
        self._binary: tuple[str, bytes] = ("", b"")
        self._binary_v3: tuple[str, bytes] = ("", b"")

    def paths(self) -> list[str]:
        """Return the paths for the list at the root."""
        return ["/openapi/v2", "/openapi/v3", "/openapi/v3/"]

    def answer(self, request: ApiRequest) -> Response | None:
        """Answer a request, None when there is no such document."""
        path = request.path
        if path == "/openapi/v2":
            return self._v2(request)
        if path == "/openapi/v3":
            return _answer(self._index(), "text/plain; charset=utf-8")
        if path.startswith(_V3):
            return self._v3(request, path.removeprefix(_V3))
        return None

    def _index(self) -> bytes:
        """Return the index, with the documents of other servers; what is ours stays ours."""
        others = self._remote.documents() if self._remote is not None else {}
        if not others:
            return self._documents.index()
        paths = {path: {"serverRelativeURL": f"{_V3}{path}?hash={one.digest}"} for path, one in others.items()}
        paths |= orjson.loads(self._documents.index())["paths"]
        return orjson.dumps({"paths": dict(sorted(paths.items()))})

    def swagger(self) -> bytes:
        """Return the document of version 2 as JSON."""
        return self._of_version_2().body

    def _of_version_2(self) -> Document:
        """Return the document of version 2, with what other servers add to it."""
        local = self._documents.v2()
        if self._remote is None or not self._remote.generation:
            return local
        made_of, known = (local.digest, self._remote.generation), self._merged
        if known is None or known[0] != made_of:
            body = orjson.dumps(self._remote.merged(orjson.loads(local.body)))
            known = self._merged = (made_of, Document(body, hashlib.sha512(body).hexdigest().upper()))
        return known[1]

    def _v2(self, request: ApiRequest) -> Response:
        from hyperkube_host.apiserver.openapi.gnostic import ASKED_AS, MEDIA_TYPE

        document = self._of_version_2()
        etag = f'"{document.digest}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status=304, headers=[("Etag", etag)])
        media_type = _negotiated(request.headers.get("accept", ""), ASKED_AS, MEDIA_TYPE)
        if not media_type:
            return Response(status=406, headers=[("Vary", "Accept")])
        body = document.body if media_type == negotiation.JSON else self._v2_binary(document)
        return _answer(body, media_type, etag)

    def _v2_binary(self, document: Document) -> bytes:
        import gzip

        known, body = self._binary
        if known != document.digest:
            from hyperkube_host.apiserver.openapi.gnostic import encode_document

            body = gzip.compress(encode_document(orjson.loads(document.body)), 1)
            self._binary = (document.digest, body)
        return gzip.decompress(body)

    def _v3(self, request: ApiRequest, path: str) -> Response:
        from hyperkube_host.apiserver.openapi import gnostic_v3

        document = self._documents.document(path)
        if document is None and self._remote is not None:
            document = self._remote.documents().get(path)
        if document is None:
            return Response(status=404)
        etag = f'"{document.digest}"'
        asked = request.param("hash")
        if asked and asked != document.digest:
            where = f"/openapi/v3/{path}?hash={document.digest}"
            return Response(status=301, headers=[("Location", where)])
        media_type = _negotiated(request.headers.get("accept", ""), gnostic_v3.ASKED_AS, gnostic_v3.MEDIA_TYPE)
        if not media_type:
            return Response(status=406, headers=[("Vary", "Accept")])
        if request.headers.get("if-none-match") == etag:
            return Response(status=304, headers=[("Etag", etag)])
        body = document.body if media_type == negotiation.JSON else self._v3_binary(document)
        answer = _answer(body, media_type, etag)
        if asked:
            answer.headers.append(("Cache-Control", "public, immutable"))
        return answer

    def _v3_binary(self, document: Document) -> bytes:
        import gzip

        from hyperkube_host.apiserver.openapi import gnostic_v3

        known, body = self._binary_v3
        if known != document.digest:
            body = gzip.compress(gnostic_v3.encode_document(orjson.loads(document.body)), 1)
            self._binary_v3 = (document.digest, body)
        return gzip.decompress(body)


def _negotiated(accept: str, asked_as: Collection[str], binary: str) -> str:
    """Return the media type of a document that is accepted, JSON or the binary one, empty for none."""
    for clause in negotiation.clauses(accept or "*/*"):
        if clause.media_type in {negotiation.JSON, "application/*", "*/*"}:
            return negotiation.JSON
        if clause.media_type in asked_as:
            return binary
    return ""


def _answer(body: bytes, media_type: str, etag: str = "") -> Response:
    headers = [("Content-Type", media_type), ("Vary", "Accept")]
    if etag:
        headers.append(("Etag", etag))
    return Response(headers=headers, body=body)
