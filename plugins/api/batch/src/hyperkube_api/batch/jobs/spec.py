"""How the API server serves Jobs."""

from __future__ import annotations

from hyperkube_api.batch.jobs.strategy import JobStrategy
from hyperkube_api.batch.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, fields

from hyperkube.hookspecs.api import ResourceSpec


def jobs() -> ResourceSpec:
    """Return the specification of the resource ``jobs``."""
    return V1.resource(
        "jobs",
        "Job",
        categories=("all",),
        storage_prefix="jobs",
        storage_version_hash="mudhfqk/qZY=",
        strategy=JobStrategy(),
        columns=(
            NAME,
            column("Status", description="Status of the job."),
            column("Completions", field="status.succeeded"),
            column("Duration", description="Time required to complete the job."),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
            column("Selector", priority=1, field="spec.selector"),
        ),
        cells=OnFirstUse("hyperkube_api.batch.jobs.table:job_cells"),
        fields=fields("status.successful"),
        subresources=(V1.status("Job"),),
    )
