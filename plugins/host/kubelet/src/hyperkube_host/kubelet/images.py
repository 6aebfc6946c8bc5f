"""Getting a container's image onto the node: pull policy, back-off, and the events people look for.

Source: kubernetes ``pkg/kubelet/images/image_manager.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_host.kubelet.pod_status import Waiting
from hyperkube_host.kubelet.sayings import Sayings

from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed
from hyperkube.kinds.images import pull_policy as default_pull_policy
from hyperkube.machinery.backoff import Backoff, KeyedBackoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.objects import Object, uid_of

PULL_BACKOFF = Backoff(initial=10.0, cap=300.0)
SHOW_BACKOFF_SECONDS = 3.0
"""After a failed pull the container shows that for a moment, and then that it waits."""


class ImageUnavailable(Exception):
    """The image is not there now; `waiting` is what the container's state shows, `retry_seconds` when to try again."""

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


class Images:
    """Pulls images with a back-off per pod and image."""

    def __init__(
        self, runtime: Runtime, clock: Clock, say: Sayings, credentials: Callable[[Object, str], Object | None]
    ) -> None:
        """Use `credentials` (pod, image) to find what a private registry wants."""
        self._runtime = runtime
        self._clock = clock
        self._say = say
        self._credentials = credentials
        self._backoff = KeyedBackoff(clock, PULL_BACKOFF)
        self._failures: dict[str, str] = {}

    def ensure(self, pod: Object, container: Object) -> None:
        """See to it that the image is there.

        Raises:
            ImageUnavailable: it is not.
        """
        reference, policy = container.get("image", ""), pull_policy(container)
        present = policy != "Always" and self._runtime.image(reference) is not None
        if present:
            self._say.container(
                pod, container, "Normal", "Pulled", f'Container image "{reference}" already present on machine'
            )
            return
        if policy == "Never":
            text = f'Container image "{reference}" is not present with pull policy of Never'
            self._say.container(pod, container, "Warning", "ErrImageNeverPull", text)
            raise ImageUnavailable(Waiting("ErrImageNeverPull", text), PULL_BACKOFF.initial)
        self._pull(pod, container, reference)

    def _pull(self, pod: Object, container: Object, reference: str) -> None:
        key = f"{uid_of(pod)}/{reference}"
        left = self._backoff.remaining(key)
        if left > 0:
            text = f'Back-off pulling image "{reference}"'
            self._say.container(pod, container, "Normal", "BackOff", text)
            why = self._failures.get(key)
            raise ImageUnavailable(Waiting("ImagePullBackOff", f"{text}: {why}" if why else text), left)
        self._say.container(pod, container, "Normal", "Pulling", f'Pulling image "{reference}"')
        begun = self._clock.monotonic()
        try:
            image = self._runtime.pull_image(reference, self._credentials(pod, reference))
        except RuntimeFailed as error:
            self._say.container(pod, container, "Warning", "Failed", f'Failed to pull image "{reference}": {error}')
            self._backoff.failed(key)
            word = (
                error.reason
                if error.reason.startswith(("ErrImage", "Image", "Registry", "Invalid"))
                else "ErrImagePull"
            )
            self._failures[key] = f"{word}: {error}"
            raise ImageUnavailable(Waiting(word, str(error)), SHOW_BACKOFF_SECONDS) from error
        self._backoff.forget(key)
        self._failures.pop(key, None)
        took = format_duration(round(self._clock.monotonic() - begun, 3))
        text = f'Successfully pulled image "{reference}" in {took} ({took} including waiting).'
        text += f" Image size: {image.size} bytes."
        self._say.container(pod, container, "Normal", "Pulled", text)
