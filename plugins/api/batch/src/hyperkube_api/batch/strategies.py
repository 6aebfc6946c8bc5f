"""Jobs and cron jobs: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/batch.
"""

from __future__ import annotations

from hyperkube_api.batch.defaults import default_cron_job, default_job
from hyperkube_api.batch.validation.cron_jobs import validate_cron_job, validate_cron_job_name
from hyperkube_api.batch.validation.job_status import validate_job_status_update
from hyperkube_api.batch.validation.job_updates import validate_job_update
from hyperkube_api.batch.validation.jobs import validate_job
from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.core.pod_specs.warnings.pod_spec import template_warnings
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object, name_of, uid_of

CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
JOB_NAME = "batch.kubernetes.io/job-name"
LEGACY_CONTROLLER_UID = "controller-uid"
LEGACY_JOB_NAME = "job-name"
_HIGH_COMPLETIONS = 10**5
_HIGH_PARALLELISM = 10**4
_ZONE = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


class CronJobStrategy(StatusStrategy):
    """Jobs by the clock."""

    generation = True

    def default(self, obj: Object) -> None:
        """Fill in the policies and the pod template."""
        default_cron_job(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the schedule and the job template."""
        return validate_cron_job(obj, None) + validate_cron_job_name(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, apart from the name."""
        return validate_cron_job(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the name, the schedule and the template."""
        found = workload_name_warnings(obj) if old is None else []
        if changed_generation(obj, old):
            job = (obj["spec"].get("jobTemplate") or {}).get("spec") or {}
            found += _job_warnings(job, "spec.jobTemplate.spec")
        if old is not None and "TZ" in (obj["spec"].get("schedule") or ""):
            found.append(_ZONE)
        return found


_PODS_STAY = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
    "set propagationPolicy=Orphan to suppress this warning"
)


class JobStrategy(StatusStrategy):
    """Pods that run to their end; selected by the job's own uid unless it says otherwise."""

    generation = True
    default_gc = "Orphan"

    def default(self, obj: Object) -> None:
        """Fill in counts, modes and the pod template."""
        default_job(obj)

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
        return validate_job(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that what counts pods stayed."""
        return validate_job_update(obj, old, call.gates)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts and conditions."""
        return validate_job_status_update(obj, old)

    def before_delete(self, call: Call, obj: Object) -> None:
        """Warn whoever does not say what shall become of the pods: they stay."""
        options = call.body or {}
        is_said = options.get("propagationPolicy") is not None or options.get("orphanDependents") is not None
        if not is_said and _PODS_STAY not in call.warnings:
            call.warnings.append(_PODS_STAY)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the name, the numbers and the template."""
        if not changed_generation(obj, old):
            return []
        found = workload_name_warnings(obj) if old is None else []
        return found + _job_warnings(obj["spec"], "spec")


def _job_warnings(spec: Object, path: str) -> list[str]:
    """Return the warnings for what a job is to be; source: kubernetes pkg/api/job/warnings.go."""
    found: list[str] = []
    high = (spec.get("completions") or 0) > _HIGH_COMPLETIONS and (spec.get("parallelism") or 0) > _HIGH_PARALLELISM
    if spec.get("completionMode") == "Indexed" and high:
        found.append(
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
            "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    return found + template_warnings(spec.get("template"), f"{path}.template", None)


def _label_as_template(job: Object) -> None:
    labels = ((job["spec"].get("template") or {}).get("metadata") or {}).get("labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)
