"""What happens when a Job is created, changed or deleted.

Source: kubernetes pkg/registry/batch/job.
"""

from __future__ import annotations

from hyperkube_api.batch.jobs.labels import CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME
from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object, name_of, uid_of

_default_job: OnFirstUse[None] = OnFirstUse("hyperkube_api.batch.jobs.defaults:default_job")
_validate_job: OnFirstUse[list[FieldError]] = OnFirstUse("hyperkube_api.batch.jobs.validation.job:validate_job")
_validate_job_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.batch.jobs.validation.update:validate_job_update"
)
_validate_job_status_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.batch.jobs.validation.status:validate_job_status_update"
)
_job_warnings: OnFirstUse[list[str]] = OnFirstUse("hyperkube_api.batch.jobs.warnings:job_warnings")

_PODS_ARE_KEPT = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
    "set propagationPolicy=Orphan to suppress this warning"
)


class JobStrategy(StatusStrategy):
    """Pods that run to their end; selected by the uid of the job unless ``manualSelector`` is set."""

    generation = True
    default_gc = "Orphan"

    def default(self, obj: Object) -> None:
        """Fill in counts, modes and the pod template."""
        _default_job.call(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Make the selector and the labels that it finds pods by."""
        spec = obj["spec"]
        if not spec.get("manualSelector"):
            self._generate_selector(obj, spec)
        _label_as_template(obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Label a job without labels as its pods are."""
        _label_as_template(obj)

    def _generate_selector(self, obj: Object, spec: Object) -> None:
        template = spec.setdefault("template", {})
        meta = template.setdefault("metadata", {})
        labels = meta["labels"] = dict(meta.get("labels") or {})
        uid = uid_of(obj)
        for key, value in (
            (LEGACY_JOB_NAME, name_of(obj)),
            (JOB_NAME, name_of(obj)),
            (LEGACY_CONTROLLER_UID, uid),
            (CONTROLLER_UID, uid),
        ):
            labels.setdefault(key, value)
        selector = spec.get("selector") or {}
        matched = selector.get("matchLabels") or {}
        matched.setdefault(CONTROLLER_UID, uid)
        selector["matchLabels"] = matched
        spec["selector"] = selector

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the job and its template."""
        return _validate_job.call(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that what counts pods stayed."""
        return _validate_job_update.call(obj, old, call.gates)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts and conditions."""
        return _validate_job_status_update.call(obj, old)

    def deletion_warnings(self, call: Call) -> list[str]:
        """Warn when the request does not say what shall become of the pods: they stay."""
        options = call.body or {}
        is_said = options.get("propagationPolicy") is not None or options.get("orphanDependents") is not None
        return [] if is_said else [_PODS_ARE_KEPT]

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of what is allowed but unwise in the name, the numbers and the template."""
        if not changed_generation(obj, old):
            return []
        found = workload_name_warnings(obj) if old is None else []
        return found + _job_warnings.call(obj["spec"], "spec")


def _label_as_template(job: Object) -> None:
    labels = ((job["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)
