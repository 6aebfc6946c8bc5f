"""The project of kubebuilder's CronJob tutorial, as its tests install and use it: definition, webhooks, requests.

Source: kubebuilder ``docs/book/src/cronjob-tutorial/testdata/project``: ``api/v1/cronjob_types.go``,
``config/webhook/manifests.yaml``, ``internal/controller/cronjob_controller_test.go``.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import orjson

GROUP, NAME = "batch.tutorial.kubebuilder.io", "cronjobs.batch.tutorial.kubebuilder.io"
MUTATE = "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob"
VALIDATE = "/validate-batch-tutorial-kubebuilder-io-v1-cronjob"
_REF = "#/components/schemas/"


def inlined(schemas: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema of an OpenAPI document as controller-gen writes it into definitions: without references."""
    return _inlined(schemas, schemas[name])


def _inlined(schemas: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref") or (schema.get("allOf") or [{}])[0].get("$ref", "")
    if reference:
        kind = reference.removeprefix(_REF)
        if kind.endswith(("util.intstr.IntOrString", "api.resource.Quantity")):
            return {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
        return {**_inlined(schemas, schemas[kind]), "description": schema.get("description", "")}
    left_out = {"default", "x-kubernetes-group-version-kind", "x-kubernetes-patch-strategy"}
    left_out |= {"x-kubernetes-patch-merge-key", "allOf"}
    found = {key: value for key, value in schema.items() if key not in left_out}
    if schema.get("default") not in (None, {}) and schema["default"] in schema.get("enum", [schema["default"]]):
        found["default"] = schema["default"]
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = _inlined(schemas, found[key])
    if "properties" in found:
        found["properties"] = {key: _inlined(schemas, each) for key, each in found["properties"].items()}
    return found


def definition(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the definition; `schemas` are those of the server's document of ``batch/v1``."""
    whole = {"type": "integer", "format": "int32", "minimum": 0}
    spec = {
        "schedule": {"type": "string", "minLength": 0},
        "startingDeadlineSeconds": {"type": "integer", "format": "int64", "minimum": 0},
        "concurrencyPolicy": {"type": "string", "enum": ["Allow", "Forbid", "Replace"]},
        "suspend": {"type": "boolean"},
        "jobTemplate": inlined(schemas, "io.k8s.api.batch.v1.JobTemplateSpec"),
        "successfulJobsHistoryLimit": whole,
        "failedJobsHistoryLimit": whole,
    }
    spec["jobTemplate"]["properties"]["metadata"] = {"type": "object"}
    spec["jobTemplate"]["properties"]["spec"]["properties"]["template"]["properties"]["metadata"] = {"type": "object"}
    active = {"type": "array", "items": inlined(schemas, "io.k8s.api.core.v1.ObjectReference")}
    status = {"active": active, "lastScheduleTime": {"type": "string", "format": "date-time"}}
    schema = {
        "type": "object",
        "properties": {
            **{name: {"type": "string"} for name in ("apiVersion", "kind")},
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": spec, "required": ["schedule", "jobTemplate"]},
            "status": {"type": "object", "properties": status},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "CronJob", "listKind": "CronJobList", "plural": "cronjobs", "singular": "cronjob"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced",
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


def webhooks(address: str, bundle: str) -> list[dict[str, Any]]:
    """Return both configurations as the test environment changes them: URLs for services, with two slashes."""
    found = []
    for word, letter, path in (("Mutating", "m", MUTATE), ("Validating", "v", VALIDATE)):
        rule = {
            "apiGroups": [GROUP],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["cronjobs"],
        }
        hook = {
            "name": f"{letter}cronjob-v1.kb.io",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": f"{address}/{path}", "caBundle": bundle},
            "failurePolicy": "Fail",
            "rules": [rule],
            "sideEffects": "None",
        }
        found.append(
            {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": f"{word}WebhookConfiguration",
                "metadata": {"name": f"{word.lower()}-webhook-configuration"},
                "webhooks": [hook],
            }
        )
    return found


def admitted(review: dict[str, Any]) -> dict[str, Any]:
    """Answer as the tutorial's webhooks do: a missing policy gets its default, a schedule needs five fields."""
    spec = review["request"]["object"]["spec"]
    if "concurrencyPolicy" not in spec:
        patch = [{"op": "add", "path": "/spec/concurrencyPolicy", "value": "Allow"}]
        return {"allowed": True, "patchType": "JSONPatch", "patch": b64encode(orjson.dumps(patch)).decode()}
    if len(spec["schedule"].split()) == 5:
        return {"allowed": True}
    message = f"spec.schedule: Invalid value: {spec['schedule']!r}"
    return {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": message}}


def pod_template() -> dict[str, Any]:
    """Return what a job of the tutorial runs."""
    container = {"name": "test-container", "image": "test-image", "resources": {}}
    return {"metadata": {"creationTimestamp": None}, "spec": {"containers": [container], "restartPolicy": "OnFailure"}}


def cronjob(name: str, schedule: str = "1 * * * *") -> dict[str, Any]:
    """Return an object as Go's client sends it, empty members included."""
    template = {"metadata": {"creationTimestamp": None}, "spec": {"template": pod_template()}}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CronJob",
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": None},
        "spec": {"schedule": schedule, "jobTemplate": template},
        "status": {},
    }


def job(name: str, owner: dict[str, Any]) -> dict[str, Any]:
    """Return a job that is controlled by an object."""
    controller = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": None, "ownerReferences": [controller]},
        "spec": {"template": pod_template()},
        "status": {"active": 2},
    }
