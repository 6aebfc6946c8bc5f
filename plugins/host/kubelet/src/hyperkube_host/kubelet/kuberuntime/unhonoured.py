"""What a runtime cannot honour of a pod is said in one event, never ignored in silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from hyperkube_host.kubelet.events import KubeletEventRecorder

from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.objects import Object


@runtime_checkable
class NamesUnhonoured(Protocol):
    """A runtime that cannot honour all that a pod may ask for, and knows what."""

    def unhonoured(self, pod: Object) -> Sequence[str]:
        """Return the paths of the pod's fields that have no effect here (``spec.containers[0].resources.limits``)."""


def record_unhonoured(recorder: KubeletEventRecorder, runtime: Runtime, pod: Object) -> None:
    """Record the event of a new pod, if there is something to say."""
    fields = runtime.unhonoured(pod) if isinstance(runtime, NamesUnhonoured) else ()
    if fields:
        text = f"the {runtime.name} runtime of this node does not honour: {', '.join(fields)}"
        recorder.pod_event(pod, "Warning", "FieldsNotHonoured", text)
