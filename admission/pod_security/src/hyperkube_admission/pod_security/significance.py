"""Which updates of a pod are held against the standards at all: what else may change means nothing to them.

Source: kubernetes ``staging/src/k8s.io/pod-security-admission/admission`` (isSignificantPodUpdate).
"""

from __future__ import annotations

from hyperkube_admission.pod_security.baseline import SECCOMP_CONTAINER_ANNOTATION, SECCOMP_POD_ANNOTATION
from hyperkube_admission.pod_security.findings import name_in

from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.objects import Object, annotations_of


def is_significant(new: Object, old: Object) -> bool:
    """Tell whether an update changed what the standards look at: images and seccomp annotations can change."""
    if _seccomp_note(new) != _seccomp_note(old):
        return True
    for group in ("containers", "initContainers"):
        ours, theirs = spec_of(new).get(group) or (), spec_of(old).get(group) or ()
        if len(ours) != len(theirs):
            return True
        if any(_differs(mine, his, new, old) for mine, his in zip(ours, theirs, strict=True)):
            return True
    known = {name_in(container): container for container in spec_of(old).get("ephemeralContainers") or ()}
    return any(
        name_in(container) not in known or _differs(container, known[name_in(container)], new, old)
        for container in spec_of(new).get("ephemeralContainers") or ()
    )


def _seccomp_note(pod: Object) -> str | None:
    return annotations_of(pod).get(SECCOMP_POD_ANNOTATION)


def _differs(mine: Object, his: Object, new: Object, old: Object) -> bool:
    note = SECCOMP_CONTAINER_ANNOTATION + name_in(mine)
    return mine.get("image") != his.get("image") or annotations_of(new).get(note) != annotations_of(old).get(note)
