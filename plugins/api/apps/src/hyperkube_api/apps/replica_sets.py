"""ReplicaSets: so many pods of one template.

Source: kubernetes pkg/apis/apps, pkg/registry/apps/replicaset, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.apps.versions import V1
from hyperkube_api.apps.workloads import WorkloadStrategy, check_selector, check_template
from hyperkube_api.core.pod_specs.defaults import default_template
from hyperkube_api.core.scale import scale
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.defaults import set_defaults
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.meta.validation import counts, unchanged

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery.field import ROOT, FieldError
from hyperkube.machinery.objects import Object

_validate_replica_counts: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.workloads:validate_replica_counts"
)

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")


def default_replica_set(replica_set: Object) -> None:
    """Fill in a replica set."""
    spec = replica_set["spec"]
    set_defaults(spec, replicas=1)
    default_template(spec.get("template"))


def validate_replica_set(obj: Object) -> list[FieldError]:
    """Check a replica set."""
    spec = obj["spec"]
    errors = counts(_SPEC, spec, "replicas", "minReadySeconds")
    wrong, selector = check_selector(_SPEC.child("selector"), spec, "deployment")  # Kubernetes' word here, too
    return errors + wrong + check_template(spec, selector)


def validate_replica_set_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a replica set."""
    errors = validate_replica_set(obj)
    return errors + unchanged(_SPEC.child("selector"), obj["spec"].get("selector"), old["spec"].get("selector"))


def validate_replica_set_status(obj: Object) -> list[FieldError]:
    """Check the counts of a replica set."""
    return _validate_replica_counts.call(_STATUS, obj.get("status") or {})


def replica_set_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the counts; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        spec.get("replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.selector(spec.get("selector")),
    ]


class ReplicaSetStrategy(WorkloadStrategy):
    """So many pods of one template."""

    metadata_checks = ("change",)

    def default(self, obj: Object) -> None:
        """Fill in replicas and template."""
        default_replica_set(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check replicas, selector and template."""
        return validate_replica_set(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        return validate_replica_set_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return validate_replica_set_status(obj)


def replica_sets() -> ResourceSpec:
    """Return the specification of the resource ``replicasets``."""
    return V1.resource(
        "replicasets",
        "ReplicaSet",
        short_names=("rs",),
        categories=("all",),
        storage_prefix="replicasets",
        storage_version_hash="P1RzHs8/mWQ=",
        strategy=ReplicaSetStrategy(),
        columns=(
            NAME,
            column("Desired", type="integer", field="spec.replicas"),
            column("Current", type="integer", field="status.replicas"),
            column("Ready", type="integer", field="status.readyReplicas"),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
            column("Selector", priority=1, field="spec.selector"),
        ),
        cells=replica_set_cells,
        subresources=(
            scale(V1, "replicasets"),
            V1.status("ReplicaSet"),
        ),
    )
