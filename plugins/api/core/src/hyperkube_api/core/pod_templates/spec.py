"""How the API server serves pod templates."""

from __future__ import annotations

from hyperkube_api.core.pod_templates.strategy import PodTemplateStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def pod_templates() -> ResourceSpec:
    """Return the specification of the resource ``podtemplates``."""
    return V1.resource(
        "podtemplates",
        "PodTemplate",
        storage_prefix="podtemplates",
        storage_version_hash="LIXB2x4IFpk=",
        strategy=PodTemplateStrategy(),
        columns=(
            NAME,
            column("Containers", description="Names of each container in the template."),
            column("Images", description="Images referenced by each container in the template."),
            column("Pod Labels", description="The labels for the pod template."),
        ),
        cells=OnFirstUse("hyperkube_api.core.pod_templates.table:pod_template_cells"),
    )
