"""From a resource spec to the paths and operations of an OpenAPI v3 document.

Names and shapes of operations are those of kube-apiserver, since client generators are fed with them. Source: apiserver
``pkg/endpoints/installer.go``, ``pkg/endpoints/openapi/openapi.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hyperkube_host.apiserver.openapi import parameters

from hyperkube.hookspecs.api import ResourceSpec, Subresource
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object

_BUILT_IN = ("application/json", "application/vnd.kubernetes.protobuf", "application/yaml")
_STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
_CUSTOM = ("application/json", "application/yaml")
_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
_ACTIONS = {"create": "post", "update": "put", "get": "get", "delete": "delete", "patch": "patch"}
_METHODS = {"get": "get", "list": "get", "create": "post", "update": "put", "delete": "delete", "patch": "patch"}
_READ_ONLY_CONNECT = {"log"}
_RETURNING_DELETED = {
    "CSIDriver", "CSINode", "DeviceClass", "DeviceTaintRule", "PersistentVolume", "PersistentVolumeClaim", "Pod",
    "PodTemplate", "ResourceClaim", "ResourceClaimTemplate", "ResourceQuota", "ResourceSlice", "Service",
    "ServiceAccount", "StorageClass", "VolumeAttachment", "VolumeAttributesClass",
}  # fmt: skip
"""Kinds whose deletion is documented to answer with the object instead of a Status."""


def tag(group: str, version: str) -> str:
    """Return the tag of a group version: ``apps_v1``, ``rbacAuthorization_v1``, ``oaExampleCom_v1``."""
    camel = camel_group(group)
    return f"{camel[:1].lower()}{camel[1:]}_{version}" if version else f"{camel[:1].lower()}{camel[1:]}"


def camel_group(group: str) -> str:
    """Return a group as operation names show it: ``Core``, ``RbacAuthorization``, ``OaExampleCom``."""
    parts = re.split(r"[.-]", group.removesuffix(".k8s.io") or "core")
    return "".join(part[:1].upper() + part[1:] for part in parts)


class Operations:
    """Writes the paths of one group version."""

    def __init__(
        self, group: str, version: str, refer: Callable[[str, GroupVersionKind], Object], *, custom: bool
    ) -> None:
        """Prepare for a group version.

        Args:
            group: the group.
            version: the version.
            refer: returns the reference to a kind: ``""`` and the kind, or the schema's name and the kind.
            custom: whether the resources are custom: no protobuf, no strategic merge patch.
        """
        self._version = version
        self._camel = camel_group(group) + version[:1].upper() + version[1:]
        self._tags = [tag(group, version)]
        self._refer = refer
        self._custom = custom
        self._types = _CUSTOM if custom else _BUILT_IN

    def paths(self, spec: ResourceSpec, list_ref: Object, item_ref: Object) -> dict[str, Object]:
        """Return the paths of a resource and its subresources."""
        kind, namespaced = spec.kind.kind, spec.namespaced
        scope = "Namespaced" if namespaced else ""
        plain = spec.resource.path(namespace="{namespace}" if namespaced else "")
        named = f"{plain}/{{name}}"
        paths: dict[str, Object] = {}
        self._collection(paths, spec, plain, list_ref, item_ref)
        item: Object = {}
        for verb in ("get", "update", "delete", "patch"):
            if verb in spec.verbs:
                item[_METHODS[verb]] = self._verb(verb, spec.kind, f"{scope}{kind}", item_ref, about=kind)
        if item:
            paths[named] = item | {"parameters": parameters.in_path(kind, named=True, namespaced=namespaced)}
        for sub in spec.subresources:
            self._subresource(paths, spec, sub, named, item_ref)
        return paths

    def _collection(
        self, paths: dict[str, Object], spec: ResourceSpec, plain: str, list_ref: Object, item_ref: Object
    ) -> None:
        kind, namespaced = spec.kind.kind, spec.namespaced
        scope = "Namespaced" if namespaced else ""
        item: Object = {}
        if "list" in spec.verbs:
            item["get"] = self._list(spec.kind, f"{scope}{kind}", list_ref)
        if "create" in spec.verbs:
            item["post"] = self._verb("create", spec.kind, f"{scope}{kind}", item_ref, about=kind)
        if "deletecollection" in spec.verbs:
            item["delete"] = self._delete_collection(spec.kind, f"Collection{scope}{kind}")
        if item:
            paths[plain] = item | {"parameters": parameters.in_path(kind, named=False, namespaced=namespaced)}
        if namespaced and "list" in spec.verbs:
            every = {"get": self._list(spec.kind, f"{kind}ForAllNamespaces", list_ref)}
            shared = parameters.in_path(kind, named=False, namespaced=False)
            paths[spec.resource.path()] = every | {"parameters": shared}

    def _subresource(
        self, paths: dict[str, Object], spec: ResourceSpec, sub: Subresource, named: str, item_ref: Object
    ) -> None:
        kind, namespaced = spec.kind.kind, spec.namespaced
        scope = "Namespaced" if namespaced else ""
        suffix = sub.name[:1].upper() + sub.name[1:]
        shared = parameters.in_path(sub.kind.kind, named=True, namespaced=namespaced)
        if sub.connect and sub.name not in _READ_ONLY_CONNECT:
            paths[f"{named}/{sub.name}"] = self._connect(spec, sub, f"{scope}{kind}{suffix}", shared)
            if sub.name == "proxy":
                whole = self._connect(spec, sub, f"{scope}{kind}{suffix}WithPath", [*shared, parameters.rest_of_path()])
                paths[f"{named}/{sub.name}/{{path}}"] = whole
            return
        ref = item_ref if sub.kind == spec.kind and not sub.schema else self._kind_of_group(sub)
        if ref is None:
            return
        item: Object = {}
        for verb in ("get", "update", "patch", "create"):
            if verb in sub.verbs:
                operation = self._verb(
                    verb, sub.kind, f"{scope}{kind}{suffix}", ref, about=f"{sub.name} of the specified {kind}"
                )
                item[_METHODS[verb]] = operation
        if sub.name == "log" and "get" in item:
            item["get"]["parameters"] = parameters.query(parameters.CONNECT["log"])
            plain_text = {"text/plain": {"schema": {"type": "string"}}, **_content(self._types, {"type": "string"})}
            item["get"]["responses"]["200"]["content"] = plain_text
        paths[f"{named}/{sub.name}"] = item | {"parameters": shared}

    def _kind_of_group(self, sub: Subresource) -> Object | None:
        """Refer to a subresource's kind, which may be another group's; None where that group is not installed."""
        try:
            return self._refer(sub.schema, sub.kind)
        except LookupError as error:
            if isinstance(error.__cause__, ModuleNotFoundError):
                return None
            raise

    def _verb(self, verb: str, kind: GroupVersionKind, name: str, ref: Object, *, about: str) -> Object:
        """Return the operation of a verb on one object or one of its parts."""
        of_part = " of the specified " in about
        words = {
            "get": ("read", f"read {about}" if of_part else f"read the specified {about}"),
            "update": ("replace", f"replace {about}" if of_part else f"replace the specified {about}"),
            "patch": ("patch", f"partially update {about}" if of_part else f"partially update the specified {about}"),
            "create": (
                "create",
                f"create {about.replace(' the specified', ' a')}" if of_part else f"create {_a(about)}",
            ),
            "delete": ("delete", f"delete {_a(about)}"),
        }
        prefix, text = words[verb]
        operation: Object = {
            "tags": self._tags,
            "description": text,
            "operationId": f"{prefix}{self._camel}{name}",
        }
        query = {"update": parameters.WRITE, "create": parameters.WRITE, "patch": parameters.PATCH}.get(verb, ())
        if verb == "delete":
            query = parameters.DELETE
        if verb == "get" and self._custom:
            query = ("resourceVersion",)
        if query:
            operation["parameters"] = parameters.query(query)
        body = self._body(verb, ref)
        if body is not None:
            operation["requestBody"] = body
        answer = self._status() if verb == "delete" and kind.kind not in _RETURNING_DELETED else ref
        answer = self._status() if verb == "delete" and self._custom else answer
        operation["responses"] = self._responses(verb, answer)
        return operation | _about(_ACTIONS[verb], kind)

    def _body(self, verb: str, ref: Object) -> Object | None:
        if verb in {"create", "update"}:
            return {"content": _content(self._types if self._custom else ("*/*",), ref), "required": True}
        if verb == "patch":
            patch = self._refer("hyperkube_api.meta.v1:Patch", GroupVersionKind("", "v1", "Patch"))
            return {"content": _content(_PATCHES[:3] if self._custom else _PATCHES, patch), "required": True}
        if verb == "delete":
            return self._delete_options()
        return None

    def _delete_options(self) -> Object:
        options = self._refer("hyperkube_api.meta.v1:DeleteOptions", GroupVersionKind("", "v1", "DeleteOptions"))
        return {"content": _content(self._types if self._custom else ("*/*",), options)}

    def _status(self) -> Object:
        return self._refer("hyperkube_api.meta.v1:Status", GroupVersionKind("", "v1", "Status"))

    def _responses(self, verb: str, ref: Object, types: tuple[str, ...] = ()) -> Object:
        codes = {
            "update": {"200": "OK", "201": "Created"},
            "patch": {"200": "OK"} if self._custom else {"200": "OK", "201": "Created"},
            "create": {"200": "OK", "201": "Created", "202": "Accepted"},
            "delete": {"200": "OK", "202": "Accepted"},
        }.get(verb, {"200": "OK"})
        content = _content(types or self._types, ref)
        out: Object = {code: {"description": text, "content": content} for code, text in codes.items()}
        return out | {"401": {"description": "Unauthorized"}}

    def _list(self, kind: GroupVersionKind, name: str, ref: Object) -> Object:
        types = self._types if self._custom else (*_BUILT_IN[:1], _STREAMS[0], _BUILT_IN[1], _STREAMS[1], _BUILT_IN[2])
        return {
            "tags": self._tags,
            "description": f"list {'' if self._custom else 'or watch '}objects of kind {kind.kind}",
            "operationId": f"list{self._camel}{name}",
            "parameters": parameters.query(parameters.LIST),
            "responses": self._responses("list", ref, types),
            **_about("list", kind),
        }

    def _delete_collection(self, kind: GroupVersionKind, name: str) -> Object:
        query = parameters.LIST if self._custom else parameters.DELETE_COLLECTION
        body = {} if self._custom else {"requestBody": self._delete_options()}
        return {
            "tags": self._tags,
            "description": f"delete collection of {kind.kind}",
            "operationId": f"delete{self._camel}{name}",
            "parameters": parameters.query(query),
            **body,
            "responses": self._responses("deletecollection", self._status()),
            **_about("deletecollection", kind),
        }

    def _connect(self, spec: ResourceSpec, sub: Subresource, name: str, shared: list[Object]) -> Object:
        methods = ["get", "post"]
        if sub.name == "proxy":
            methods += ["put", "delete", "options", "head", "patch"]
        item: Object = {}
        for method in methods:
            item[method] = {
                "tags": self._tags,
                "description": f"connect {method.upper()} requests to {sub.name} of {spec.kind.kind}",
                "operationId": f"connect{self._camel}{method.capitalize()}{name}",
                "responses": {
                    "200": {"description": "OK", "content": {"*/*": {"schema": {"type": "string"}}}},
                    "401": {"description": "Unauthorized"},
                },
                **_about("connect", sub.kind),
            }
        own = [param for param in shared if param is not parameters.PRETTY]
        return item | {"parameters": [*own, *parameters.query(parameters.CONNECT.get(sub.name, ()))]}


def resource_list(group: str, version: str, ref: Object) -> Object:
    """Return the operation that lists the resources of a group version."""
    camel = camel_group(group) + version[:1].upper() + version[1:]
    return {
        "get": {
            "tags": [tag(group, version)],
            "description": "get available resources",
            "operationId": f"get{camel}APIResources",
            "responses": {
                "200": {"description": "OK", "content": _content(_BUILT_IN, ref)},
                "401": {"description": "Unauthorized"},
            },
        }
    }


def _content(types: tuple[str, ...], ref: Object) -> Object:
    return {media_type: {"schema": ref} for media_type in types}


def _about(action: str, kind: GroupVersionKind) -> Object:
    about: dict[str, Any] = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return {"x-kubernetes-action": action, "x-kubernetes-group-version-kind": about}


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AEIOUaeiou" else f"a {kind}"
