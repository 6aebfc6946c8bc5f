"""Makes sure that a container's image is on the node: pull policy, back-off, and events.

Source: kubernetes ``pkg/kubelet/images/image_manager.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.types.pod_status import Waiting

from hyperkube.hookspecs.runtime import Config, Image, RegistryCredentials, Runtime, RuntimeFailed
from hyperkube.kinds.images import pull_policy as default_pull_policy
from hyperkube.machinery.backoff import Backoff, KeyedBackoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.objects import Object, annotations_of, uid_of

PULL_BACKOFF = Backoff(initial=10.0, cap=300.0)
SHOW_ERROR_SECONDS = 3.0
"""How long a container shows the error of a failed pull, before it shows ImagePullBackOff."""

_PULL_REASONS = ("ErrImage", "Image", "Registry", "Invalid")
"""What the reasons of Kubernetes for failed pulls begin with; any other reason of a runtime shows as ErrImagePull."""


class ImageUnavailable(Exception):
    """The image is not on the node; `waiting` is the state to show, `retry_seconds` when to try again."""

    def __init__(self, waiting: Waiting, retry_seconds: float) -> None:
        super().__init__(waiting.message)
        self.waiting = waiting
        self.retry_seconds = retry_seconds


def pull_policy(container: Object) -> str:
    """Return the container's pull policy, by Kubernetes' default if it has none."""
    policy = container.get("imagePullPolicy")
    if policy:
        return str(policy)
    return default_pull_policy(str(container.get("image") or ""))


class ImageManager:
    """Pulls images with a back-off per pod and image."""

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        recorder: KubeletEventRecorder,
        credentials: Callable[[Object, str], RegistryCredentials | None],
    ) -> None:
        """Use `credentials` (pod, image) to find the login for a private registry."""
        self._runtime = runtime
        self._clock = clock
        self._recorder = recorder
        self._credentials = credentials
        self._backoff = KeyedBackoff(clock, PULL_BACKOFF)
        self._failures: dict[str, str] = {}

    def ensure_image(self, pod: Object, container: Object, sandbox_config: Config) -> Image:
        """Pull the image if the pull policy asks for it; return it.

        Raises:
            ImageUnavailable: the image is not on the node.
        """
        reference, policy = container.get("image", ""), pull_policy(container)
        present = None if policy == "Always" else self._runtime.image(reference)
        if present is not None:
            self._recorder.container_event(
                pod, container, "Normal", "Pulled", f'Container image "{reference}" already present on machine'
            )
            return present
        if policy == "Never":
            text = f'Container image "{reference}" is not present with pull policy of Never'
            self._recorder.container_event(pod, container, "Warning", "ErrImageNeverPull", text)
            raise ImageUnavailable(Waiting("ErrImageNeverPull", text), PULL_BACKOFF.initial)
        return self._pull(pod, container, reference, sandbox_config)

    def _pull(self, pod: Object, container: Object, reference: str, sandbox_config: Config) -> Image:
        key = f"{uid_of(pod)}/{reference}"
        left = self._backoff.remaining(key)
        if left > 0:
            text = f'Back-off pulling image "{reference}"'
            self._recorder.container_event(pod, container, "Normal", "BackOff", text)
            why = self._failures.get(key)
            raise ImageUnavailable(Waiting("ImagePullBackOff", f"{text}: {why}" if why else text), left)
        self._recorder.container_event(pod, container, "Normal", "Pulling", f'Pulling image "{reference}"')
        begun = self._clock.monotonic()
        try:
            spec = {"image": reference, "annotations": dict(annotations_of(pod))}
            image = self._runtime.pull_image(spec, self._credentials(pod, reference), sandbox_config)
        except RuntimeFailed as error:
            self._recorder.container_event(
                pod, container, "Warning", "Failed", f'Failed to pull image "{reference}": {error}'
            )
            self._backoff.failed(key)
            reason = error.reason if error.reason.startswith(_PULL_REASONS) else "ErrImagePull"
            self._failures[key] = f"{reason}: {error}"
            raise ImageUnavailable(Waiting(reason, str(error)), SHOW_ERROR_SECONDS) from error
        self._backoff.forget(key)
        self._failures.pop(key, None)
        took = format_duration(round(self._clock.monotonic() - begun, 3))
        text = f'Successfully pulled image "{reference}" in {took} ({took} including waiting).'
        text += f" Image size: {image.size} bytes."
        self._recorder.container_event(pod, container, "Normal", "Pulled", text)
        return image
