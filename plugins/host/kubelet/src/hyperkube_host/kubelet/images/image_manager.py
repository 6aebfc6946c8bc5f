"""Makes sure that an image is on the node and that its pod may use it: pull policy, credentials, back-off, events.

Sources: kubernetes ``pkg/kubelet/images/{image_manager,types}.go``, ``pkg/kubelet/events/event.go``,
``pkg/kubelet/kubelet_pods.go`` (getPullSecretsForPod).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from hyperkube_host.kubelet.credentialprovider.docker_config import DockerConfigInvalid, keyring_of
from hyperkube_host.kubelet.credentialprovider.keyring import TrackedCredentials
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.images.image_name import InvalidImageName, parse_image_name, with_default_tag
from hyperkube_host.kubelet.images.puller import ImagePuller, Pulled
from hyperkube_host.kubelet.images.pullmanager.image_pull_manager import ImagePullManager
from hyperkube_host.kubelet.types.plugin_bugs import plugin_bugs
from hyperkube_host.kubelet.types.pod_status import Waiting

from hyperkube.hookspecs.runtime import Config, Image, RegistryCredentials, Runtime, RuntimeFailed
from hyperkube.kinds.images import pull_policy as default_pull_policy
from hyperkube.machinery.backoff import Backoff, KeyedBackoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object, namespace_of, uid_of

PULL_BACKOFF = Backoff(initial=10.0, cap=300.0)
SHOW_ERROR_SECONDS = 9.5
"""How long a container shows the error of a failed pull, before it shows ImagePullBackOff.

As long as a pod worker waits after a failed sync, and a little less than the first back-off: the state is seen.
"""

_PULL_REASONS = ("ErrImage", "Image", "Registry", "Invalid", "Signature")
"""What the reasons of Kubernetes for failed pulls begin with; any other reason of a runtime shows as ErrImagePull."""
_CRI_ERRORS = {
    "RegistryUnavailable": "image pull failed for {} because the registry is unavailable{}",
    "SignatureValidationFailed": "image pull failed for {} because the signature validation failed{}",
}
"""Errors that CRI has words for: how a message begins → what is shown of it."""

Record = Callable[[str, str, str], None]
"""Records an event: kind, reason, message."""
NodeKeyring = Callable[[str, Object], Sequence[TrackedCredentials]]
"""(image, pod) → the credentials that the node has for it."""


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


def pull_error(image: str, error: RuntimeFailed) -> Waiting:
    """Return what a container shows of a failed pull."""
    text = str(error)
    for reason, message in _CRI_ERRORS.items():
        if text.startswith(reason):
            return Waiting(reason, message.format(image, text.removeprefix(reason)))
    return Waiting(error.reason if error.reason.startswith(_PULL_REASONS) else "ErrImagePull", text)


class ImageManager:
    """Pulls images with a back-off per pod and image; thread-safe."""

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        recorder: KubeletEventRecorder,
        puller: ImagePuller,
        pulls: ImagePullManager | None,
        get_secret: Callable[[str, str], Object],
        node_keyring: NodeKeyring,
    ) -> None:
        """Take how images are pulled, and where credentials come from.

        Args:
            runtime: has the images.
            clock: for back-offs and durations.
            recorder: of events.
            puller: has the pulls wait for their turn.
            pulls: knows who may use what is there; None lets everyone (gate KubeletEnsureSecretPulledImages off).
            get_secret: (namespace, name) → the Secret.
            node_keyring: knows the node's own credentials.
        """
        self._runtime = runtime
        self._clock = clock
        self._recorder = recorder
        self._puller = puller
        self._pulls = pulls
        self._get_secret = get_secret
        self._node_keyring = node_keyring
        self._backoff = KeyedBackoff(clock, PULL_BACKOFF)
        self._failures: dict[str, str] = {}

    def ensure_image(
        self, pod: Object, container: Object, sandbox_config: Config, before_pull: Callable[[], None] | None = None
    ) -> Image:
        """Pull a container's image if the pull policy asks for it; return it.

        `before_pull` is called before what may take long, and not if the image is there.

        Raises:
            ImageUnavailable: the image is not on the node, or not this pod's to use.
        """
        record = partial(self._recorder.container_event, pod, container)
        reference = str(container.get("image") or "")
        return self._ensure(pod, reference, pull_policy(container), sandbox_config, record, before_pull)

    def ensure_volume_image(self, pod: Object, source: Object, sandbox_config: Config) -> Image:
        """Do the same for the image of a volume; events are about the pod.

        Raises:
            ImageUnavailable: the image is not on the node, or not this pod's to use.
        """
        reference = str(source.get("reference") or "")
        policy = str(source.get("pullPolicy") or default_pull_policy(reference))
        return self._ensure(pod, reference, policy, sandbox_config, partial(self._recorder.pod_event, pod))

    def _ensure(
        self,
        pod: Object,
        reference: str,
        policy: str,
        sandbox_config: Config,
        record: Record,
        before_pull: Callable[[], None] | None = None,
    ) -> Image:
        name, present = self._inspect(reference, policy, record)
        offered: list[Sequence[TrackedCredentials]] = []

        def credentials() -> Sequence[TrackedCredentials]:
            """Look once, and no sooner than they matter."""
            if not offered:
                offered.append(self._credentials(pod, name))
            return offered[0]

        if present is not None:
            must_pull = self._pulls is not None and self._pulls.must_attempt_pull(reference, present.id, credentials)
            if not must_pull:
                allowed = " and can be accessed by the pod" if self._pulls is not None else ""
                text = f"Container image {quote(reference)} already present on machine{allowed}"
                record("Normal", "Pulled", text)
                return present
            if policy == "Never":
                raise _never_pulled(reference, record)
        if before_pull is not None:
            before_pull()
        return self._pull(pod, reference, name, credentials(), sandbox_config, record)

    def _inspect(self, reference: str, policy: str, record: Record) -> tuple[str, Image | None]:
        """Return the name with a tag, and the image if it is there and need not be pulled for its policy.

        Raises:
            ImageUnavailable: the name is none, the runtime cannot tell, or it is not there and must not be pulled.
        """
        try:
            name = with_default_tag(reference)
        except InvalidImageName as error:
            raise _failed_inspect("InvalidImageName", "apply default image tag", reference, error, record) from error
        if policy == "Always":
            return name, None
        try:
            present = self._runtime.image(name)
        except RuntimeFailed as error:
            raise _failed_inspect("ImageInspectError", "inspect image", reference, error, record) from error
        if present is None and policy == "Never":
            raise _never_pulled(reference, record)
        return name, present

    def _credentials(self, pod: Object, name: str) -> Sequence[TrackedCredentials]:
        """Return the pod's and the node's credentials for an image.

        Raises:
            ImageUnavailable: a pull secret cannot be read.
        """
        repository = parse_image_name(name).repository
        try:
            found = keyring_of(self._pull_secrets(pod)).lookup(repository)
        except DockerConfigInvalid as error:
            raise ImageUnavailable(Waiting(str(error), str(error)), PULL_BACKOFF.initial) from error
        return [*found, *self._node_keyring(repository, pod)]

    def _pull_secrets(self, pod: Object) -> list[Object]:
        """Return the pull secrets that are there; the image may be public without the others."""
        found, missing = [], []
        for entry in pod["spec"].get("imagePullSecrets") or []:
            name = entry.get("name")
            if not name:
                continue
            try:
                found.append(self._get_secret(namespace_of(pod), name))
            except (ApiError, OSError):
                missing.append(name)
        if missing:
            text = f"Unable to retrieve some image pull secrets ({', '.join(missing)});"
            text += " attempting to pull the image may not succeed."
            self._recorder.pod_event(pod, "Warning", "FailedToRetrieveImagePullSecret", text)
        return found

    def _pull(
        self,
        pod: Object,
        reference: str,
        name: str,
        credentials: Sequence[TrackedCredentials],
        sandbox_config: Config,
        record: Record,
    ) -> Image:
        key = f"{uid_of(pod)}_{reference}"
        left = self._backoff.remaining(key)
        if left > 0:
            text = f"Back-off pulling image {quote(reference)}"
            record("Normal", "BackOff", text)
            why = self._failures.get(key)
            raise ImageUnavailable(Waiting("ImagePullBackOff", f"{text}: {why}" if why else text), left)
        self._failures.pop(key, None)
        record("Normal", "Pulling", f"Pulling image {quote(reference)}")
        begun = self._clock.monotonic()
        try:
            pulled = self._pull_recorded(reference, name, credentials, sandbox_config)
        except RuntimeFailed as error:
            record("Warning", "Failed", f"Failed to pull image {quote(reference)}: {error}")
            self._backoff.failed(key)
            waiting = pull_error(reference, error)
            self._failures[key] = f"{waiting.reason}: {waiting.message}"
            raise ImageUnavailable(waiting, SHOW_ERROR_SECONDS) from error
        self._backoff.forget(key)
        took, waited = _shown(pulled.seconds), _shown(self._clock.monotonic() - begun)
        text = f"Successfully pulled image {quote(reference)} in {took} ({waited} including waiting)."
        record("Normal", "Pulled", f"{text} Image size: {pulled.image.size} bytes.")
        return pulled.image

    def _pull_image(self, spec: Config, used: RegistryCredentials | None, sandbox_config: Config) -> Image:
        with plugin_bugs():
            return self._runtime.pull_image(spec, used, sandbox_config)

    def _pull_recorded(
        self, reference: str, name: str, credentials: Sequence[TrackedCredentials], sandbox_config: Config
    ) -> Pulled:
        """Pull, with a record of the intent before and of the outcome after it.

        Raises:
            RuntimeFailed: it fails, or cannot be recorded.
        """
        spec = {"image": name, "annotations": dict(sandbox_config.get("annotations") or {})}
        if self._pulls is None:
            return self._puller.pull(lambda used: self._pull_image(spec, used, sandbox_config), credentials)
        try:
            self._pulls.record_intent(reference)
        except OSError as error:
            text = f"Failed to record image pull intent for container image {quote(reference)}: {error}"
            raise RuntimeFailed(text, "ErrImagePull") from error
        try:
            pulled = self._puller.pull(lambda used: self._pull_image(spec, used, sandbox_config), credentials)
        except RuntimeFailed:
            self._pulls.record_failed(reference)
            raise
        self._pulls.record_pulled(reference, pulled.image.id, pulled.used)
        return pulled


def _failed_inspect(reason: str, what: str, reference: str, error: Exception, record: Record) -> ImageUnavailable:
    text = f"Failed to {what} {quote(reference)}: {error}"
    record("Warning", "InspectFailed", text)
    return ImageUnavailable(Waiting(reason, text), PULL_BACKOFF.initial)


def _never_pulled(reference: str, record: Record) -> ImageUnavailable:
    text = f"Container image {quote(reference)} is not present with pull policy of Never"
    record("Warning", "ErrImageNeverPull", text)
    return ImageUnavailable(Waiting("ErrImageNeverPull", text), PULL_BACKOFF.initial)


def _shown(seconds: float) -> str:
    """Return a duration in whole milliseconds, as Go shows it."""
    return format_duration(int(seconds * 1000) / 1000)
