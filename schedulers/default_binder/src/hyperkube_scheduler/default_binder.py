"""DefaultBinder: writes the decision to the API, by posting to the pod's binding."""

from __future__ import annotations

from hyperkube.hookspecs.scheduling import BindPlugin, PodInfo
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.objects import NodeName, name_of, namespace_of, uid_of


class DefaultBinder(BindPlugin):
    """The binder that handles every pod. Source: kubernetes ``plugins/defaultbinder/default_binder.go``."""

    def bind(self, pod: PodInfo, node: NodeName) -> bool:
        """Post a Binding with the pod's uid as precondition; always handles the pod.

        Raises:
            ApiError: the API refused: the pod is gone, or bound already.
        """
        name, namespace = name_of(pod.pod), namespace_of(pod.pod)
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": uid_of(pod.pod)},
            "target": {"kind": "Node", "name": node},
        }
        self.client.create(PODS, binding, namespace, name=name, subresource="binding")
        return True
