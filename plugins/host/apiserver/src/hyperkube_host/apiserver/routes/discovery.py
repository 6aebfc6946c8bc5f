"""Discovery: which groups, versions and resources there are, in the classic and the aggregated form.

Source: kubernetes apiserver ``pkg/endpoints/discovery``, kube-aggregator ``pkg/apiserver/handler_apis.go``.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, TypeAlias

import orjson
from hyperkube_host.apiserver.aggregation.remotes import Remote, Remotes
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.resources.meta_types import meta_schema
from hyperkube_host.apiserver.resources.registry import Registry, ServedVersion, in_order
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_host.apiserver.serializer.encode import ok, wants_pretty, write
from hyperkube_host.apiserver.serializer.negotiation import ALL, JSON, PROTOBUF
from hyperkube_host.apiserver.serializer.path_errors import not_allowed, not_found
from hyperkube_lib.protobuf import Protobuf
from hyperkube_lib.serving.exchange import Response

from hyperkube.hookspecs.api import Subresource
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import NotAcceptable
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import compile_schema

if TYPE_CHECKING:
    from hyperkube_host.apiserver.peerproxy.peer_discovery import PeerDiscovery

NO_PEERS = "nopeer"
"""A profile of the aggregated form: without what other API servers serve."""
AGGREGATED_PARAMETERS = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_AGGREGATED_KIND = ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")
_AGGREGATED_SCHEMA = "hyperkube_api.apidiscovery.v2:APIGroupDiscoveryList"
AnyVersion: TypeAlias = ServedVersion | Remote


@dataclass(frozen=True, slots=True)
class _Document:
    body: bytes
    etag: str


class Discovery:
    """Answers /api, /apis and what lies between them and the resources."""

    def __init__(
        self,
        registry: Registry,
        *,
        server_address: str = "",
        remotes: Remotes | None = None,
        peers: PeerDiscovery | None = None,
    ) -> None:
        self._peers = peers
        self._registry = registry
        self._remotes = remotes if remotes is not None else Remotes()
        self._server_address = server_address
        self._protobuf = Protobuf()
        self._lock = threading.Lock()
        self._generation = (-1, -1, -1)
        self._aggregated: dict[tuple[str, str], _Document] = {}

    def paths(self) -> list[str]:
        """Return the discovery paths, for the list at the root."""
        versions = self._all()
        found = {"/api", "/apis", "/apis/"}
        for version in versions:
            if version.group:
                found |= {f"/apis/{version.group}", f"/apis/{version.group}/{version.version}"}
            else:
                found.add(f"/api/{version.version}")
        return sorted(found)

    def answer(self, request: ApiRequest) -> Response | None:
        """Answer a discovery request, None when the path is none of discovery's.

        The list of groups, one group, and a version that CustomResourceDefinitions make are answered with any method.

        Raises:
            NotAcceptable: the client accepts no form that there is.
            MethodNotAllowed: a web service is asked with another method than GET.
            NotFound: it is the path of a web service that has nothing there.
        """
        parts = request.path.rstrip("/").split("/")[1:]
        if parts == ["api"]:
            _check_method(request)
            return self._root(request, "/api")
        if parts == ["apis"]:
            return self._root(request, "/apis")
        if parts[:1] == ["apis"] and len(parts) == 2:
            group = self._group(parts[1])
            return self._write(request, group) if group is not None else None
        if parts[:1] == ["api"]:
            return self._version(request, "", parts[1:])
        if parts[:1] == ["apis"] and parts[1]:
            return self._version(request, parts[1], parts[2:])
        return None

    def _version(self, request: ApiRequest, group: str, rest: list[str]) -> Response | None:
        version = self._registry.version(group, rest[0]) if len(rest) == 1 else None
        if version is None:
            if self._registry.has_built_in(group):
                raise not_found()
            return None
        if not version.custom:
            _check_method(request)
        return self._write(request, resource_list(version))

    def _root(self, request: ApiRequest, path: str) -> Response:
        accept = request.headers.get("accept", "")
        media_type, profile = aggregated_form(accept)
        if media_type:
            return self._aggregate(request, path, media_type, profile)
        response = self._write(request, self._api_versions() if path == "/api" else self._group_list())
        response.headers.append(("Vary", "Accept"))
        return response

    def _aggregate(self, request: ApiRequest, path: str, media_type: str, profile: str) -> Response:
        if self._peers is None:  # a server that knows no others has one form, and tells of no profile
            profile = ""
        document = self._document(path, profile)
        parameters = f"{AGGREGATED_PARAMETERS};profile={profile}" if profile else AGGREGATED_PARAMETERS
        headers = [
            ("Content-Type", f"{media_type};{parameters}"),
            ("ETag", document.etag),
            ("Vary", "Accept"),
            ("Cache-Control", "public"),
        ]
        if request.headers.get("if-none-match") == document.etag:
            return Response(status=304, headers=headers[1:])
        body = document.body
        if media_type == PROTOBUF:
            body = self._protobuf.encode(orjson.loads(body), compile_schema(_AGGREGATED_SCHEMA))
        elif media_type != JSON:
            body = write(orjson.loads(body), media_type)
        return Response(headers=headers, body=body)

    def _document(self, path: str, profile: str) -> _Document:
        with self._lock:
            peers = self._peers.generation if self._peers is not None else 0
            generation = (self._registry.generation, self._remotes.generation, peers)
            if self._generation != generation:
                self._generation = generation
                self._aggregated.clear()
            document = self._aggregated.get((path, profile))
            if document is None:
                document = self._aggregated[path, profile] = self._aggregated_document(path, profile)
            return document

    def _aggregated_document(self, path: str, profile: str) -> _Document:
        groups: dict[str, list[AnyVersion]] = {}
        for version in self._all():
            if (path == "/api") == (not version.group):
                groups.setdefault(version.group, []).append(version)
        items = [
            {"metadata": {"name": group} if group else {}, "versions": [_aggregated_version(one) for one in versions]}
            for group, versions in groups.items()
        ]
        if self._peers is not None and path == "/apis" and profile != NO_PEERS:
            items = with_peers(items, self._peers.groups())
        body = orjson.dumps(
            {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}
        )
        return _Document(body, f'"{hashlib.sha512(body).hexdigest().upper()}"')

    def _api_versions(self) -> Object:
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._server_address}]
        versions = [version.version for version in self._registry.versions() if not version.group]
        return {"kind": "APIVersions", "versions": versions, "serverAddressByClientCIDRs": addresses}

    def _group_list(self) -> Object:
        names = dict.fromkeys(version.group for version in self._all() if version.group)
        groups = [_group_of(name, self._versions_of(name)) for name in names]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

    def _group(self, name: str) -> Object | None:
        versions = self._versions_of(name)
        if not versions or not name:
            return None
        return {"kind": "APIGroup", "apiVersion": "v1", **_group_of(name, versions)}

    def _versions_of(self, group: str) -> list[AnyVersion]:
        return [version for version in self._all() if version.group == group]

    def _all(self) -> list[AnyVersion]:
        """Return what this server serves and what others do behind it, in order; of two, the other one counts."""
        own: list[AnyVersion] = list(self._registry.versions())
        if not self._remotes:
            return own
        remotes = self._remotes.all()
        elsewhere = {(remote.group, remote.version) for remote in remotes}
        return in_order([*(one for one in own if (one.group, one.version) not in elsewhere), *remotes])

    def _write(self, request: ApiRequest, obj: Object) -> Response:
        accept = request.headers.get("accept", "")
        negotiation.check_accepted(accept, ALL)
        media_type = negotiation.negotiate(accept, binary=True).media_type
        if media_type == PROTOBUF:
            return ok(self._protobuf.encode(obj, meta_schema(obj["kind"])), media_type=PROTOBUF)
        return ok(write(obj, media_type, pretty=wants_pretty(request)), media_type=media_type)


def _check_method(request: ApiRequest) -> None:
    if request.method != "GET":
        raise not_allowed()


def with_peers(items: list[Object], others: list[Object]) -> list[Object]:
    """Return the groups of this server with the groups, versions and resources that only others serve, at the end.

    Source: kubernetes apiserver ``pkg/endpoints/discovery/aggregated/peer_aggregated_handler.go``.
    """
    merged = {_name_of(item): {**item, "versions": [dict(version) for version in item["versions"]]} for item in items}
    for other in others:
        group = merged.setdefault(_name_of(other), {**other, "versions": []})
        known = {version["version"]: version for version in group["versions"]}
        for version in other.get("versions") or ():
            own = known.get(version["version"])
            if own is None:
                group["versions"].append(version)
                continue
            rows = own.get("resources") or []
            names = {row["resource"] for row in rows}
            own["resources"] = [*rows, *(row for row in version.get("resources") or () if row["resource"] not in names)]
    return list(merged.values())


def _name_of(group: Object) -> str:
    return str((group.get("metadata") or {}).get("name") or "")


def aggregated_form(accept: str) -> tuple[str, str]:
    """Return the media type and the profile of the aggregated form, both empty when the classic form is wanted more.

    Raises:
        NotAcceptable: neither is accepted.
    """
    if not accept or accept in {JSON, "*/*"}:
        return "", ""
    for clause in negotiation.clauses(accept):
        media_type = JSON if clause.media_type in {"*/*", "application/*"} else clause.media_type
        if media_type not in ALL:
            continue
        if not negotiation.asks_for_a_kind(clause):
            return "", ""
        params = dict(clause.params)
        if (params.get("as"), params.get("g"), params.get("v")) == _AGGREGATED_KIND:
            return media_type, NO_PEERS if params.get("profile") == NO_PEERS else ""
    raise NotAcceptable(f"only the following media types are accepted: {', '.join(ALL)}")


def _group_of(name: str, versions: list[AnyVersion]) -> Object:
    listed = [{"groupVersion": f"{name}/{one.version}", "version": one.version} for one in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def resource_list(version: ServedVersion) -> Object:
    """Return the APIResourceList of a group version."""
    rows: list[Object] = []
    for name in sorted(version.resources):
        served = version.resources[name]
        rows.append(_resource_row(served))
        rows += [_part_row(served, sub) for sub in _parts(served)]
    api_version = f"{version.group}/{version.version}" if version.group else version.version
    head: Object = {"kind": "APIResourceList"}
    if version.group:
        head["apiVersion"] = "v1"
    return {**head, "groupVersion": api_version, "resources": rows}


def _parts(served: ServedResource) -> list[Subresource]:
    """Return the subresources in the order of discovery: by name, those of custom resources as they are."""
    if served.custom:
        return list(served.spec.subresources)
    return sorted(served.spec.subresources, key=lambda sub: sub.name)


def _resource_row(served: ServedResource) -> Object:
    spec = served.spec
    row: Object = {
        "name": spec.resource.resource,
        "singularName": spec.singular,
        "namespaced": spec.namespaced,
        "kind": spec.kind.kind,
        "verbs": list(spec.verbs),
    }
    if spec.short_names:
        row["shortNames"] = list(spec.short_names)
    if spec.categories:
        row["categories"] = list(spec.categories)
    if spec.storage_version_hash:
        row["storageVersionHash"] = spec.storage_version_hash
    return row


def _part_row(served: ServedResource, sub: Subresource) -> Object:
    row: Object = {
        "name": f"{served.spec.resource.resource}/{sub.name}",
        "singularName": "",
        "namespaced": served.spec.namespaced,
    }
    if (sub.kind.group, sub.kind.version) != (served.kind.group, served.kind.version):
        row |= {"group": sub.kind.group, "version": sub.kind.version}
    return {**row, "kind": sub.kind.kind, "verbs": list(sub.verbs)}


def _aggregated_version(version: AnyVersion) -> Object:
    if isinstance(version, Remote):
        freshness = "Current" if version.available else "Stale"
        return {"version": version.version, "resources": _aggregated_rows(version), "freshness": freshness}
    resources = [_aggregated_resource(version.resources[name]) for name in sorted(version.resources)]
    return {"version": version.version, "resources": resources, "freshness": "Current"}


def _aggregated_rows(remote: Remote) -> list[Object]:
    """Return the rows of another server's APIResourceList in the aggregated form."""
    found: dict[str, Object] = {}
    for row in sorted(remote.resources, key=lambda row: str(row.get("name", ""))):
        name, _, part = str(row.get("name", "")).partition("/")
        group, version = row.get("group") or remote.group, row.get("version") or remote.version
        kind = {"group": group, "version": version, "kind": row.get("kind", "")}
        if part:
            if name in found:
                subresource = {"subresource": part, "responseKind": kind, "verbs": row.get("verbs") or []}
                found[name].setdefault("subresources", []).append(subresource)
            continue
        found[name] = {
            "resource": name,
            "responseKind": kind,
            "scope": "Namespaced" if row.get("namespaced") else "Cluster",
            "singularResource": row.get("singularName") or "",
            "verbs": row.get("verbs") or [],
        }
        found[name] |= {member: row[member] for member in ("shortNames", "categories") if row.get(member)}
    return list(found.values())


def _aggregated_resource(served: ServedResource) -> Object:
    spec = served.spec
    row: Object = {
        "resource": spec.resource.resource,
        "responseKind": _response_kind(served, spec.kind.group, spec.kind.version, spec.kind.kind),
        "scope": "Namespaced" if spec.namespaced else "Cluster",
        "singularResource": spec.singular,
        "verbs": list(spec.verbs),
    }
    if spec.short_names:
        row["shortNames"] = list(spec.short_names)
    if spec.categories:
        row["categories"] = list(spec.categories)
    parts = [
        {
            "subresource": sub.name,
            "responseKind": _response_kind(served, sub.kind.group, sub.kind.version, sub.kind.kind),
            "verbs": list(sub.verbs),
        }
        for sub in _parts(served)
    ]
    if parts:
        row["subresources"] = parts
    return row


def _response_kind(served: ServedResource, group: str, version: str, kind: str) -> Object:
    """Return a kind; built-in resources leave out the group version that is that of the resource anyway."""
    if not served.custom and (group, version) == (served.kind.group, served.kind.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}
