"""Pulls images one after another, or some at a time, and not more often than the registries are to be asked.

Sources: kubernetes ``pkg/kubelet/images/{puller,helpers}.go``, ``pkg/kubelet/kuberuntime/kuberuntime_image.go``
(PullImage: one attempt per credentials).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from hyperkube_host.kubelet.credentialprovider.keyring import TrackedCredentials
from hyperkube_lib.component_base.token_bucket import TokenBucket

from hyperkube.hookspecs.runtime import Image, RegistryCredentials, RuntimeFailed
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

PullOnce = Callable[[RegistryCredentials | None], Image]
"""Asks the runtime for one pull."""


class PullOptions(Record):
    """``--serialize-image-pulls``, ``maxParallelImagePulls`` (0: no limit), ``--registry-qps`` (0: no limit)."""

    serialize: bool = True
    max_parallel: int = 0
    qps: float = 5.0
    burst: int = 10


class Pulled(NamedTuple):
    """An image that was pulled: with which credentials, and how long that took without waiting for its turn."""

    image: Image
    used: TrackedCredentials | None
    seconds: float


class ImagePuller:
    """Lets as many pull at a time as may; thread-safe."""

    def __init__(self, options: PullOptions, clock: Clock) -> None:
        self._clock = clock
        at_once = 1 if options.serialize else options.max_parallel
        self._turn: AbstractContextManager[object] = threading.BoundedSemaphore(at_once) if at_once else nullcontext()
        self._bucket = TokenBucket(clock, options.qps, options.burst) if options.qps > 0 else None

    def pull(self, pull_once: PullOnce, offered: Sequence[TrackedCredentials]) -> Pulled:
        """Wait for a turn, then pull: without credentials where there are none, else with each until one is good.

        Raises:
            RuntimeFailed: with what all attempts said.
        """
        with self._turn:
            begun = self._clock.monotonic()
            errors: list[RuntimeFailed] = []
            for used in offered or (None,):
                try:
                    image = self._attempt(pull_once, used)
                except RuntimeFailed as error:
                    errors.append(error)
                    continue
                return Pulled(image, used, self._clock.monotonic() - begun)
        raise _aggregate(errors)

    def _attempt(self, pull_once: PullOnce, used: TrackedCredentials | None) -> Image:
        if self._bucket is not None and not self._bucket.try_accept():
            raise RuntimeFailed("pull QPS exceeded", "ErrImagePull")
        return pull_once(None if used is None else used.credentials)


def _aggregate(errors: Sequence[RuntimeFailed]) -> RuntimeFailed:
    """Return one error of several: each text once, in brackets when there are several."""
    text = aggregate(errors)
    return errors[0] if text == str(errors[0]) else RuntimeFailed(text, errors[0].reason)
