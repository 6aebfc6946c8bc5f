"""Tells whether a pod must pull an image that is on the node, to show that it may.

Otherwise a pod could use what another one's secret has pulled, only by knowing its name.

Source: kubernetes ``pkg/kubelet/images/pullmanager/image_pull_manager.go``.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from hyperkube_host.kubelet.credentialprovider.keyring import (
    SecretSource,
    ServiceAccountSource,
    TrackedCredentials,
)
from hyperkube_host.kubelet.images.image_name import parse_image_name
from hyperkube_host.kubelet.images.pullmanager.policy import ImagePullPolicyEnforcer
from hyperkube_host.kubelet.images.pullmanager.records import PullCredentials, PulledRecord, PullRecords

from hyperkube.hookspecs.runtime import Image
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.times import format_time

MOST_SECRETS = 100
"""Beyond so many, secrets that are only found to be as good as a recorded one are not recorded, too."""
_log = logging.getLogger("hyperkube.kubelet")


def credentials_record(used: TrackedCredentials | None) -> PullCredentials:
    """Return who may use an image that was pulled with these credentials: those of the node, or none, are all pods'."""
    source = None if used is None else used.source
    if isinstance(source, SecretSource) and used is not None:
        return PullCredentials(secrets={source: used.digest})
    if isinstance(source, ServiceAccountSource):
        return PullCredentials(service_accounts=frozenset([source]))
    return PullCredentials(node_pods_accessible=True)


def merge_credentials(old: PullCredentials | None, new: PullCredentials) -> PullCredentials:
    """Return who may use an image, with those that have shown it now."""
    if old is None or new.node_pods_accessible:
        return new
    if old.node_pods_accessible:
        return old
    return PullCredentials({**old.secrets, **new.secrets}, old.service_accounts | new.service_accounts)


def matching(recorded: PullCredentials, offered: Sequence[TrackedCredentials]) -> TrackedCredentials | None:
    """Return the credentials of a pod that are as good as recorded ones.

    A secret counts by what is in it, and also by its name: what is in it may have been renewed.
    """
    for credentials in offered:
        source = credentials.source
        if isinstance(source, SecretSource) and (
            source in recorded.secrets or credentials.digest in recorded.secrets.values()
        ):
            return credentials
    return next((one for one in offered if one.source in recorded.service_accounts), None)


class ImagePullManager:
    """Keeps the records; thread-safe. A record that cannot be written or read costs a pull, never access."""

    def __init__(self, records: PullRecords, policy: ImagePullPolicyEnforcer, clock: Clock) -> None:
        self._records = records
        self._policy = policy
        self._clock = clock
        self._lock = threading.Lock()
        self._pulls: Counter[str] = Counter()

    def initialize(self, images: Callable[[], Iterable[Image]]) -> None:
        """Turn the intents of an earlier kubelet into records, where the runtime finished what it began.

        No credentials are recorded: the next pod has to show some.
        """
        intents = set(self._records.intents())
        if not intents:
            return
        for image in images():
            for name in intents & {*image.tags, *image.digests}:
                self._write(name, image.id, None)
                self._records.delete_intent(name)

    def record_intent(self, image: str) -> None:
        """Note, before a pull, that it begins.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            self._records.write_intent(image)
            self._pulls[image] += 1

    def record_pulled(self, image: str, image_ref: str, used: TrackedCredentials | None) -> None:
        """Note that a pull went well.

        When that cannot be written, the intent stays: the image counts as pulled, and a later kubelet tries again.
        """
        with self._lock:
            try:
                self._write(image, image_ref, credentials_record(used))
            except OSError as error:
                _log.warning("failed to write image pulled record of %s: %s", image_ref, error)
                return
            self._finish(image)

    def record_failed(self, image: str) -> None:
        """Note that a pull failed."""
        with self._lock:
            self._finish(image)

    def _finish(self, image: str) -> None:
        self._pulls[image] -= 1
        if self._pulls[image] <= 0:
            del self._pulls[image]
            self._records.delete_intent(image)

    def _write(self, image: str, image_ref: str, credentials: PullCredentials | None) -> None:
        """Add credentials to the record of an image, or make one without; not written when nothing changes."""
        try:
            old = self._records.get(image_ref)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.info("failed to retrieve an ImagePulledRecord of %s: %s", image_ref, error)
            old = None
        mapping = dict(old.credentials) if old is not None else {}
        if credentials is not None:
            name = parse_image_name(image).repository
            mapping[name] = merge_credentials(mapping.get(name), credentials)
        if old is None or mapping != old.credentials:
            self._records.write(PulledRecord(image_ref, format_time(self._clock.now()), mapping))

    def must_attempt_pull(
        self, image: str, image_ref: str, offered: Callable[[], Sequence[TrackedCredentials]]
    ) -> bool:
        """Tell whether a pod must pull an image that is there.

        Args:
            image: what the pod calls it.
            image_ref: what the runtime calls it.
            offered: returns the pod's credentials for it; called only when they matter.
        """
        with self._lock:
            try:
                record = self._records.get(image_ref)
                by_kubelet = record is not None or self._pulls[image] > 0 or self._records.has_intent(image)
            except (OSError, ValueError, KeyError, TypeError) as error:
                _log.warning("unable to access cache records about image pulls: %s", error)
                return True
        name = parse_image_name(image).repository
        if not self._policy.requires_verification(name, pulled_by_kubelet=by_kubelet):
            return False
        recorded = record.credentials.get(name) if record is not None else None
        if recorded is None:
            return True
        if recorded.node_pods_accessible:
            return False
        if not recorded.secrets and not recorded.service_accounts:
            return True
        found = matching(recorded, offered())
        if found is None:
            return True
        if isinstance(found.source, SecretSource) and len(recorded.secrets) < MOST_SECRETS:
            with self._lock:
                try:
                    self._write(image, image_ref, credentials_record(found))
                except OSError as error:
                    _log.warning("failed to write an image pulled record of %s: %s", image_ref, error)
        return False

    def prune(self, kept: Collection[str], until: str) -> None:
        """Remove the records of images that are gone, but those written after `until` (RFC 3339)."""
        with self._lock:
            for record in self._records.records():
                if record.updated < until and record.image_ref not in kept:
                    self._records.delete(record.image_ref)
