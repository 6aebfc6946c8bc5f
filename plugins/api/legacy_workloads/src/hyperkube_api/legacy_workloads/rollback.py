"""``deployments/NAME/rollback``: posting a DeploymentRollback has the deployment roll back to a revision.

The request is kept as an annotation of the deployment; the deployment controller fulfils it and removes the annotation.

Source: kubernetes v1.15 pkg/registry/apps/deployment/storage/storage.go (RollbackREST), pkg/apis/apps/validation.
"""

from __future__ import annotations

from dataclasses import replace

from hyperkube_api.legacy_workloads.workloads import ROLLBACK
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs.api import Call, ResourceSpec, Subresource
from hyperkube.kinds.resources import DEPLOYMENTS
from hyperkube.machinery.errors import BadRequest, Invalid
from hyperkube.machinery.field import FieldError, Path, invalid, required
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.names import qualified_name
from hyperkube.machinery.objects import Object

KIND = "DeploymentRollback"


def with_rollback(deployments: ResourceSpec, version: Version) -> ResourceSpec:
    """Return the deployments of a version with their subresource."""
    rollback = Subresource(
        name="rollback", kind=version.kind(KIND), verbs=("create",), schema=version.schema(KIND), handler=roll_back
    )
    return replace(deployments, subresources=(*deployments.subresources, rollback))


def roll_back(call: Call) -> Object:
    """Set the annotation on the deployment, with the annotations that come with the request.

    Raises:
        BadRequest: the body names another deployment.
        Invalid: the body names none, a revision below 0, or annotations that are none.
        NotFound: there is no such deployment.
    """
    rollback = call.body or {}
    name, revision = rollback.get("name") or "", (rollback.get("rollbackTo") or {}).get("revision") or 0
    if errors := _faults(rollback, name, revision):
        raise Invalid.about(GroupKind("apps", KIND), name, errors)
    if name != call.name:
        raise BadRequest(f"name in URL does not match name in {KIND} object")

    def note(deployment: Object) -> Object:
        meta = deployment.setdefault("metadata", {})
        given = rollback.get("updatedAnnotations") or {}
        meta["annotations"] = {**(meta.get("annotations") or {}), **given, ROLLBACK: str(revision)}
        return deployment

    call.objects.change(DEPLOYMENTS, call.name, call.namespace, note, dry_run=call.dry_run)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "message": f'rollback request for deployment "{name}" succeeded',
        "code": 200,
    }


def _faults(rollback: Object, name: str, revision: int) -> list[FieldError]:
    path = Path("updatedAnnotations")
    errors = [
        invalid(path, key, fault)
        for key in rollback.get("updatedAnnotations") or {}
        for fault in qualified_name(key.lower())
    ]
    if not name:
        errors.append(required(Path("name"), "name is required"))
    if revision < 0:
        text = "must be greater than or equal to 0"
        errors.append(invalid(Path("rollback").child("version"), revision, text))
    return errors
