"""The pages about the API of the 1.x line: Swagger 1.2 and 2.0, a page for people, and the way to the dashboard.

``--compat`` and ``--enable-swagger-ui`` open them; Kubernetes dropped them from 1.11 on.

Sources: kubernetes 1.5 ``pkg/genericapiserver/{swagger.go,openapi.go}``, ``pkg/ui/installsupport.go``,
``pkg/genericapiserver/routes/swaggerui.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
from hyperkube_host.apiserver.health.health import text
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.serializer.negotiation import JSON
from hyperkube_lib.serving.exchange import Answer, Response

SWAGGER_1 = "/swaggerapi"
SWAGGER_2 = "/swagger.json"
USER_INTERFACE = "/swagger-ui"
DASHBOARD = "/api/v1/namespaces/kube-system/services/kubernetes-dashboard/proxy/"
_HTML = [("Content-Type", "text/html; charset=utf-8")]
_VERBS = ("get", "put", "post", "delete", "patch", "options", "head")
_PAGE = Path(__file__).with_name("swagger_ui.html")


class SwaggerPages:
    """Answers these paths, and the ones below them."""

    def __init__(self, document: Callable[[], bytes], *, user_interface: bool) -> None:
        """Take what they show.

        Args:
            document: returns the description of the API in Swagger 2.0, which OpenAPI 2 is, as JSON.
            user_interface: whether there is the page for people.
        """
        self._document = document
        self._user_interface = user_interface

    def answer(self, request: ApiRequest) -> Answer | None:
        """Answer a request; None when the path is none of these."""
        path = request.path.rstrip("/")
        if path == SWAGGER_2:
            return Response(headers=[("Content-Type", JSON)], body=self._document())
        if path == "/ui":
            return Response(status=307, headers=[("Location", DASHBOARD)])
        if path == SWAGGER_1 or path.startswith(f"{SWAGGER_1}/"):
            return self._of_version_1(path.removeprefix(SWAGGER_1))
        if path == USER_INTERFACE and self._user_interface:
            if request.path == USER_INTERFACE:
                return Response(status=301, headers=[("Location", f"{USER_INTERFACE}/")])
            return Response(headers=_HTML, body=_PAGE.read_bytes())
        return None

    def paths(self) -> list[str]:
        """Return the paths for the list at the root."""
        return [SWAGGER_2, f"{SWAGGER_1}/", *([f"{USER_INTERFACE}/"] if self._user_interface else ()), "/ui"]

    def _of_version_1(self, root: str) -> Response:
        paths = orjson.loads(self._document())["paths"]
        if not root:
            return _json(resource_listing(paths))
        declared = api_declaration(root, paths)
        return _json(declared) if declared["apis"] else text("404 page not found\n", 404)


def resource_listing(paths: Mapping[str, Any]) -> dict[str, Any]:
    """Return the index of Swagger 1.2: one entry for each group and version."""
    roots = sorted({root for path in paths if (root := _root(path))})
    apis = [{"path": root, "description": f"API at {root}"} for root in roots]
    return {"swaggerVersion": "1.2", "apis": apis, "apiVersion": "", "info": {"title": "", "description": ""}}


def api_declaration(root: str, paths: Mapping[str, Any]) -> dict[str, Any]:
    """Return the operations of one group and version in Swagger 1.2."""
    apis = [
        {
            "path": path,
            "description": f"API at {root}",
            "operations": [
                _operation(verb, item[verb], item.get("parameters") or []) for verb in _VERBS if verb in item
            ],
        }
        for path, item in paths.items()
        if _root(path) == root
    ]
    return {"swaggerVersion": "1.2", "apiVersion": root.rpartition("/")[2], "resourcePath": root, "apis": apis}


def _root(path: str) -> str:
    """Return the group and version that a path belongs to, empty for none."""
    parts = path.strip("/").split("/")
    depth = {"api": 2, "apis": 3}.get(parts[0], 0)
    return "/" + "/".join(parts[:depth]) if depth and len(parts) >= depth else ""


def _operation(verb: str, operation: Mapping[str, Any], shared: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "type": "void",
        "method": verb.upper(),
        "summary": operation.get("description", ""),
        "nickname": operation.get("operationId", ""),
        "parameters": [_parameter(one) for one in (*shared, *(operation.get("parameters") or ())) if "name" in one],
        "produces": operation.get("produces") or [],
        "consumes": operation.get("consumes") or [],
    }


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": parameter.get("type", "string"),
        "paramType": parameter.get("in", "query"),
        "name": parameter["name"],
        "description": parameter.get("description", ""),
        "required": bool(parameter.get("required")),
        "allowMultiple": False,
    }


def _json(body: Mapping[str, Any]) -> Response:
    return Response(headers=[("Content-Type", JSON)], body=orjson.dumps(body))
