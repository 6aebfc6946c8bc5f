"""The next step of a rollout, as a list of actions.

One decision takes one step (create the new replica set, or scale some) and writes the status; what it changed brings
the deployment back for the next step.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_controller.deployment import scaling
from hyperkube_controller.deployment.facts import (
    DESIRED,
    HASH_LABEL,
    MAX,
    NOT_COPIED,
    REVISION,
    REVISION_HISTORY,
    Observed,
    replicas_of,
    revision_annotation,
    revision_of,
    status_count,
    status_total,
)
from hyperkube_controller.deployment.rollback import roll_back
from hyperkube_controller.deployment.status import deployment_complete, progress_deadline, status_of

from hyperkube.client.actions import Action, Again, Create, Delete, Emit, Update
from hyperkube.kinds.resources import DEPLOYMENTS, REPLICA_SETS
from hyperkube.kinds.workloads import controller_reference, merged_status, template_hash
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    copy_object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)

NAME_MAX = 253
REVISION_HISTORY_CHARS = 2000
NO_HISTORY_LIMIT = 2**31 - 1


def decide(observed: Observed) -> list[Action]:
    """Return the next step; an empty list when the deployment is as wanted and says so."""
    if is_being_deleted(observed.deployment):
        return _status(observed, frozen=True)
    if observed.rollback_to is not None and not observed.is_paused:
        return roll_back(observed, observed.rollback_to)
    new = observed.new
    renumbered = _renumber(observed, new) if new is not None else []
    if renumbered:
        return renumbered + _status(observed, frozen=observed.is_paused)
    if observed.is_paused or scaling.is_scaling_event(observed):
        steps = _scale_replica_sets(observed, scaling.scale(observed))
        tidies = observed.is_paused and observed.rollback_to is None and not steps
        tidy = _cleanup_deployment(observed) if tidies else []
        return steps + tidy + _status(observed, frozen=True)
    if not observed.is_rolling:
        going = {name_of(rs): 0 for rs in observed.old if replicas_of(rs)}
        if going or observed.old_pods_left or status_total(observed.old, "replicas"):
            return _scale_replica_sets(observed, going) + _status(observed)
    if new is None:
        made = new_replica_set(observed)
        about = observed.deployment
        message = f"Scaled up replica set {name_of(made)} from 0 to {replicas_of(made)}"
        events: list[Action] = [Emit(about, "Normal", "ScalingReplicaSet", message)] if replicas_of(made) else []
        return [Create(REPLICA_SETS, made), *events, *_status(observed, made=made)]
    sizes = scaling.reconcile_new_replica_set(observed, new)
    if not sizes and observed.is_rolling:
        sizes = scaling.reconcile_old_replica_sets(observed, new)
    steps = _scale_replica_sets(observed, sizes)
    if not steps and deployment_complete(observed, status_of(observed)):
        steps = _cleanup_deployment(observed)
    return steps + _status(observed)


def _status(observed: Observed, *, made: Object | None = None, frozen: bool = False) -> list[Action]:
    status = status_of(observed, made=made, frozen=frozen)
    deployment = observed.deployment
    annotations = annotations_of(deployment) if frozen else _numbered(observed, made)
    changed = merged_status(deployment, status)
    actions: list[Action] = []
    if changed is not None or annotations != annotations_of(deployment):
        # The revision goes along with the status: so it is no change that counts as a new generation.
        meta = {**metadata(deployment), "annotations": annotations}
        actions.append(Update(DEPLOYMENTS, {**(changed or deployment), "metadata": meta}, "status"))
    due = progress_deadline(observed, status["conditions"])
    if due is not None and not observed.is_paused:
        actions.append(Again(max(0.0, (due - observed.now).total_seconds()) + 1.0))
    return actions


def _sizing(observed: Observed) -> dict[str, str]:
    """Return the annotations that tell what a replica set's size was computed for."""
    surge, _ = observed.resolve_fenceposts()
    return {DESIRED: str(observed.wanted), MAX: str(observed.wanted + surge)}


def _scale_replica_sets(observed: Observed, sizes: scaling.Sizes) -> list[Action]:
    """Return the updates that give replica sets their sizes and note what those were computed for."""
    sizing = _sizing(observed)
    actions: list[Action] = []
    for rs in observed.replica_sets:
        size = sizes.get(name_of(rs), replicas_of(rs))
        noted = sizing.items() <= annotations_of(rs).items()
        stale = replicas_of(rs) > 0 and scaling.is_scaling_event(observed) and not noted
        if size == replicas_of(rs) and not stale:
            continue
        meta = {**metadata(rs), "annotations": {**annotations_of(rs), **sizing}}
        actions.append(Update(REPLICA_SETS, {**rs, "metadata": meta, "spec": {**rs["spec"], "replicas": size}}))
        if size != replicas_of(rs):
            way = "up" if size > replicas_of(rs) else "down"
            text = f"Scaled {way} replica set {name_of(rs)} from {replicas_of(rs)} to {size}"
            actions.append(Emit(observed.deployment, "Normal", "ScalingReplicaSet", text))
    return actions


def new_replica_set(observed: Observed) -> Object:
    """Return the replica set of the present template, sized as the strategy allows at first."""
    deployment, spec = observed.deployment, observed.spec
    template = copy_object(spec.get("template") or {})
    collisions = (deployment.get("status") or {}).get("collisionCount")
    digest = template_hash(template, collisions)
    labels = {**labels_of(template), HASH_LABEL: digest}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    selector = copy_object(spec.get("selector") or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: digest}
    made: Object = {"replicas": scaling.new_rs_new_replicas(observed, None), "selector": selector, "template": template}
    if spec.get("minReadySeconds"):
        made["minReadySeconds"] = spec["minReadySeconds"]
    return {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": f"{name_of(deployment)[: NAME_MAX - len(digest) - 1]}-{digest}",
            "namespace": namespace_of(deployment),
            "labels": labels,
            "annotations": _annotations(observed, _sizing(observed), _next_revision(observed.old)),
            "ownerReferences": [controller_reference(deployment, "apps/v1", "Deployment")],
        },
        "spec": made,
    }


def _next_revision(old: Iterable[Object]) -> int:
    return max((revision_of(rs) for rs in old), default=0) + 1


def _annotations(observed: Observed, present: dict[str, str], revision: int) -> dict[str, str]:
    """Return the annotations that the new replica set carries: those it has, the deployment's, and its revision."""
    copied = {key: value for key, value in annotations_of(observed.deployment).items() if key not in NOT_COPIED}
    wanted = {**present, **copied}
    before = present.get(REVISION, "")
    known = revision_annotation({"metadata": {"annotations": present}}, REVISION) if before else 0
    if known is None:
        return present  # the annotation is no number: left as it is, with all the rest
    if known < revision:
        wanted[REVISION] = str(revision)
        if before:
            history = [part for part in present.get(REVISION_HISTORY, "").split(",") if part]
            wanted[REVISION_HISTORY] = _history([*history, before])
    return wanted


def _history(revisions: list[str]) -> str:
    """Return the latest of the revisions that fit into the annotation."""
    while len(text := ",".join(revisions)) > REVISION_HISTORY_CHARS:
        revisions = revisions[1:]
    return text


def _renumber(observed: Observed, new: Object) -> list[Action]:
    """Return the update that makes a found replica set the latest revision (a rollback), with fresh annotations."""
    wanted = _annotations(observed, annotations_of(new), _next_revision(observed.old))
    min_ready = observed.spec.get("minReadySeconds", 0)
    if wanted == annotations_of(new) and (new["spec"].get("minReadySeconds", 0)) == min_ready:
        return []
    spec = {**new["spec"], "minReadySeconds": min_ready} if min_ready else {**new["spec"]}
    if not min_ready:
        spec.pop("minReadySeconds", None)
    return [Update(REPLICA_SETS, {**new, "metadata": {**metadata(new), "annotations": wanted}, "spec": spec})]


def _numbered(observed: Observed, made: Object | None) -> dict[str, str]:
    """Return the deployment's annotations with the revision of its new replica set."""
    present = annotations_of(observed.deployment)
    new = made or observed.new
    if new is None:
        return present
    return {**present, REVISION: str(max(revision_of(new), _next_revision(observed.old)))}


def _cleanup_deployment(observed: Observed) -> list[Action]:
    """Return the deletion of empty old replica sets beyond ``revisionHistoryLimit``, the oldest revisions first."""
    limit = observed.spec.get("revisionHistoryLimit", 10)
    if limit == NO_HISTORY_LIMIT:
        return []
    old = [rs for rs in observed.old if not is_being_deleted(rs)]
    excess = len(old) - limit
    if excess <= 0:
        return []
    oldest = sorted(old, key=revision_of)[:excess]
    return [Delete.of(REPLICA_SETS, rs) for rs in oldest if _is_empty(rs)]


def _is_empty(rs: Object) -> bool:
    seen = (rs.get("status") or {}).get("observedGeneration", 0) >= metadata(rs).get("generation", 0)
    return seen and not replicas_of(rs) and not status_count(rs, "replicas")
