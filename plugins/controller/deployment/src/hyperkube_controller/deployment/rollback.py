"""Going back to an earlier revision, as clients of extensions/v1beta1 and apps/v1beta1 ask for it.

The annotation is obeyed or refused at once, and taken away either way. The revision found then becomes the
latest one as any other template does.

Source: kubernetes pkg/controller/deployment/rollback.go.
"""

from __future__ import annotations

from hyperkube_controller.deployment.facts import HASH_LABEL, NOT_COPIED, ROLLBACK_TO, Observed, revision_of

from hyperkube.client.actions import Action, Emit, Update
from hyperkube.kinds.resources import DEPLOYMENTS
from hyperkube.kinds.workloads import same_template
from hyperkube.machinery.objects import Object, annotations_of, copy_object, labels_of, metadata, name_of


def roll_back(observed: Observed, revision: int) -> list[Action]:
    """Return what gives the deployment the template of a revision, 0 standing for the one before the last."""
    deployment = observed.deployment
    if revision == 0:
        revision = last_revision(observed)
        if revision == 0:
            return _rollback_warning(deployment, "RevisionNotFound", "Unable to find last revision.")
    found = next((rs for rs in observed.replica_sets if revision_of(rs) == revision), None)
    if found is None:
        return _rollback_warning(deployment, "RevisionNotFound", "Unable to find the revision to rollback to.")
    template = (found.get("spec") or {}).get("template") or {}
    if same_template(template, observed.spec.get("template") or {}, ignored_label=HASH_LABEL):
        text = f'The rollback revision contains the same template as current deployment "{name_of(deployment)}"'
        return _rollback_warning(deployment, "TemplateUnchanged", text)
    text = f'Rolled back deployment "{name_of(deployment)}" to revision {revision}'
    return [
        Update(DEPLOYMENTS, _with_template_of(deployment, found)),
        Emit(deployment, "Normal", "DeploymentRollback", text),
    ]


def last_revision(observed: Observed) -> int:
    """Return the second highest revision; 0 when there is none."""
    revisions = sorted((revision_of(rs) for rs in observed.replica_sets), reverse=True)
    return revisions[1] if len(revisions) > 1 else 0


def _with_template_of(deployment: Object, replica_set: Object) -> Object:
    """Return the deployment with a replica set's template and annotations: among them, why it was once changed."""
    template = copy_object(replica_set["spec"]["template"])
    labels = {key: value for key, value in labels_of(template).items() if key != HASH_LABEL}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    own = {key: value for key, value in annotations_of(deployment).items() if key in NOT_COPIED}
    taken = {key: value for key, value in annotations_of(replica_set).items() if key not in NOT_COPIED}
    changed = {**deployment, "spec": {**deployment["spec"], "template": template}}
    return _without_rollback_to({**changed, "metadata": {**metadata(deployment), "annotations": {**own, **taken}}})


def _rollback_warning(deployment: Object, reason: str, text: str) -> list[Action]:
    event = Emit(deployment, "Warning", f"DeploymentRollback{reason}", text)
    return [event, Update(DEPLOYMENTS, _without_rollback_to(deployment))]


def _without_rollback_to(deployment: Object) -> Object:
    annotations = {key: value for key, value in annotations_of(deployment).items() if key != ROLLBACK_TO}
    return {**deployment, "metadata": {**metadata(deployment), "annotations": annotations}}
