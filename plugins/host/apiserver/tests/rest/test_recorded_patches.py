"""The patches that a real API server was sent, and the objects it made of them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hyperkube_host.apiserver.rest.strategic_patch import apply_strategic_patch
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.apply import apply_configuration
from hyperkube_lib.structured_merge.managed_fields import FieldScope
from hyperkube_lib.structured_merge.tracking import track_update

from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.patch.json_patch import apply_json_patch
from hyperkube.machinery.patch.merge import apply_merge_patch
from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.times import format_time

GOLDEN = Path(__file__).parents[6] / "shared" / "golden" / "dev"
NOW = datetime(2030, 1, 1, tzinfo=UTC)
MODULES = {
    "v1": "hyperkube_api.core.v1",
    "apps/v1": "hyperkube_api.apps.v1",
    "networking.k8s.io/v1": "hyperkube_api.networking.v1",
    "rbac.authorization.k8s.io/v1": "hyperkube_api.rbac.v1",
}
IGNORED = ("uid", "resourceVersion", "creationTimestamp", "namespace", "generation")


def steps(name):
    path = GOLDEN / f"{name}.json"
    if not path.exists():
        pytest.skip("the recorded transcripts are not here")
    pytest.importorskip("hyperkube_api.core.v1")
    text = path.read_text().replace("<time>", "2030-01-01T00:00:00Z")
    return json.loads(text)["steps"]


def schema_of(obj):
    return compile_schema(f"{MODULES[obj['apiVersion']]}:{obj['kind']}")


def scope_of(obj, subresource):
    compiled = schema_of(obj)
    ignored = {
        "status": field_sets.from_paths([("spec",), ("metadata", "labels")]),
        "": field_sets.from_paths([("status",)]) if obj["kind"] == "Deployment" else {},
    }[subresource]
    return FieldScope(
        info=compiled.type,
        api_version=obj["apiVersion"],
        kind=obj["kind"],
        subresource=subresource,
        ignored={obj["apiVersion"]: ignored},
        zero=lambda: compiled.decode(None)[0],
    )


def resolved(value, variables):
    if isinstance(value, str):
        return variables.get(value, value)
    if isinstance(value, dict):
        return {key: resolved(member, variables) for key, member in value.items()}
    return [resolved(item, variables) for item in value] if isinstance(value, list) else value


def target_of(step):
    parts = step["do"]["path"].split("/")
    return "status" if parts[-1] == "status" else "", "/".join(parts[:-1] if parts[-1] == "status" else parts)


def essence(obj):
    """Keep what patches decide about, and not what a server fills in."""
    obj = json.loads(json.dumps(obj))
    meta = obj.get("metadata", {})
    for name in IGNORED:
        meta.pop(name, None)
    return obj


PATCHES = ["patch/patch-json", "patch/patch-json-lists", "patch/patch-merge", "patch/patch-strategic",
           "patch/patch-strategic-kinds"]  # fmt: skip


def apply_patch(live, do):
    kind = do["contentType"]
    if kind == "application/json-patch+json":
        return apply_json_patch(live, do["body"])
    if kind == "application/merge-patch+json":
        return apply_merge_patch(live, do["body"])
    return apply_strategic_patch(live, do["body"], schema_of(live).type)


@pytest.mark.parametrize("name", PATCHES)
def test_patches_give_what_was_recorded(name):
    objects, compared = {}, 0
    for step in steps(name):
        do, expected = step["do"], step["expect"]
        _, path = target_of(step)
        body = expected.get("body")
        if do["method"] == "PATCH" and path in objects and "body" in do and not step.get("pick"):
            live = objects[path]
            if expected["status"] == 200:
                patched = schema_of(live).decode(apply_patch(live, do), report=False)[0]
                schema_of(live).default(patched)
                assert within(essence(patched), essence(body)), do["body"]
                compared += 1
            elif expected["status"] in {413, 500} or body["message"].startswith(
                ("the server rej", "error dec", "inv", "json:")
            ):
                with pytest.raises(ApiError) as caught:
                    apply_patch(live, do)
                assert caught.value.status() == body
                compared += 1
        if expected["status"] in {200, 201} and isinstance(body, dict) and body.get("kind") != "Status":
            objects[path if do["method"] != "POST" else f"{path}/{body['metadata']['name']}"] = body
    assert compared > 3


def within(got, wanted):
    """Tell whether all of `got` is in `wanted`, which also has what strategies filled in."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        return all(not value or within(value, wanted.get(name)) for name, value in got.items())
    if isinstance(got, list) and isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(within, got, wanted))
    return got == wanted


APPLIES = ["ssa-basic", "ssa-lists", "ssa-managers", "ssa-migration", "ssa-rv", "ssa-status"]


@pytest.mark.parametrize("name", APPLIES)
def test_applies_and_updates_track_owners_as_recorded(name):
    objects, variables, compared = {}, {}, 0
    for step in steps(f"apply/{name}"):
        do, expected = step["do"], step["expect"]
        subresource, path = target_of(step)
        body = expected.get("body")
        query = do.get("query") or {}
        manager = query.get("fieldManager") or _default_manager(do)
        live = objects.get(path)
        if path.endswith("/scale") or expected["status"] in {404, 422}:
            continue
        if do.get("contentType") == "application/apply-patch+yaml":
            got = _apply(live, resolved(do["body"], variables), manager, query, subresource)
        elif do["method"] == "PATCH":
            got = _patch(live, do, manager, subresource)
        elif do["method"] == "POST":
            got, path = _create(do, manager, body), f"{path}/{body['metadata']['name']}"
        elif do["method"] == "PUT":
            got = _put(live, do, manager)
        else:
            got = None
            if do["method"] == "DELETE":
                objects.pop(path, None)
        if got is not None and not (expected["status"] == 409 and "Operation cannot" in body["message"]):
            wanted = essence(body)
            if expected["status"] < 400:
                got = {**essence(got), "metadata": {**essence(got)["metadata"]}}
                assert _owners(got) == _owners(wanted), (step.get("note"), do["body"])
                assert got.get("data") == wanted.get("data")
            else:
                assert got == body, step.get("note")
            compared += 1
        if expected["status"] in {200, 201} and body.get("kind") != "Status":
            objects[path] = body
    assert compared > 2


def _default_manager(do):
    agent = (do.get("headers") or {}).get("User-Agent", "golden/1")
    return (agent or "unknown").split("/")[0]


def _owners(obj):
    entries = obj["metadata"].get("managedFields", [])
    return sorted(
        ({**entry, "time": "time" in entry} for entry in entries),
        key=lambda entry: (entry["operation"], entry.get("subresource", ""), entry["manager"], entry["apiVersion"]),
    )


def _apply(live, config, manager, query, subresource):
    scope = scope_of(config, subresource)
    force = query.get("force") == "true"
    try:
        return apply_configuration(scope, live, config, manager=manager, force=force, now=NOW)
    except ApiError as error:
        return error.status()


def _patch(live, do, manager, subresource):
    new = schema_of(live).decode(apply_patch(live, do), report=False)[0]
    if do["body"] == [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]:
        new["metadata"]["managedFields"] = [{}]
    elif new["metadata"].get("managedFields") and "managedFields" in json.dumps(do["body"]):
        new["metadata"]["managedFields"] = do["body"]["metadata"]["managedFields"]
    track_update(scope_of(live, subresource), live, new, manager, format_time(NOW))
    return new


def _create(do, manager, body):
    """Track a create; what a server fills in beyond defaults is taken from the recorded object."""
    compiled = schema_of(body)
    new = compiled.decode(json.loads(json.dumps(do["body"])))[0]
    if body["kind"] in {"Pod", "Deployment", "Service"}:
        return None
    if body["kind"] == "Secret":
        new["data"] = body["data"]
        new.pop("stringData", None)
    track_update(scope_of(body, ""), None, new, manager, format_time(NOW))
    return new


def _put(live, do, manager):
    new = schema_of(live).decode(json.loads(json.dumps(do["body"])))[0]
    track_update(scope_of(live, ""), live, new, manager, format_time(NOW))
    return new
