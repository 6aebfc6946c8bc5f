"""Defaults of CronJobs; in place and idempotent.

Source: kubernetes pkg/apis/batch/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.batch.jobs.defaults import default_pod_failure_policy
from hyperkube_api.core.pod_specs.defaults import default_template

from hyperkube.machinery.objects import Object


def default_cron_job(cron_job: Object) -> None:
    """Fill in a cron job; its jobs get their own defaults when they are made."""
    spec = cron_job["spec"]
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    for member, value in (("suspend", False), ("successfulJobsHistoryLimit", 3), ("failedJobsHistoryLimit", 1)):
        if spec.get(member) is None:
            spec[member] = value
    job_spec: Object = (spec.get("jobTemplate") or {}).get("spec") or {}
    default_pod_failure_policy(job_spec)
    default_template(job_spec.get("template"))
