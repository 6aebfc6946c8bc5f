"""The thin loop around a controller's decisions: take a key, reconcile it, and try again later when that failed.

A controller builds a `ReconcileLoop` with its ``sync`` function and lets informer handlers enqueue keys. The loop is
a `hyperkube.hookspecs.controller.Controller`. Tests call `ReconcileLoop.drain` instead of running threads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from hyperkube.client.informer import Informer
from hyperkube.client.queue_metrics import meter_of
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.client.workqueue import DEFAULT_BACKOFF, WorkQueue
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, Conflict, Forbidden, HyperkubeError, NotFound
from hyperkube.machinery.objects import Object, controller_of, key_of, namespace_of

Sync = Callable[[str], float | None]
"""Reconciles one key; returns the seconds after which it wants to look again by itself, or None."""


class NotYet(HyperkubeError):
    """What the key needs has not happened yet: look again after its back-off; no failure, nothing to report."""


class ReconcileLoop:
    """A queue of keys and the workers that reconcile them, one worker per key at a time.

    Workers are threads that come when keys wait for one, as many as are allowed, and go when there are no more.
    """

    def __init__(
        self,
        name: str,
        sync: Sync,
        *,
        clock: Clock,
        logger: logging.Logger | None = None,
        workers: int = 1,
        backoff: Backoff = DEFAULT_BACKOFF,
        max_retries: int | None = None,
    ) -> None:
        self.name = name
        self._sync = sync
        self._max_retries = max_retries
        self._logger = logger or logging.getLogger(f"hyperkube.controller.{name}")
        self._pool: WorkerPool[str] = WorkerPool(
            name,
            self._reconcile,
            clock=clock,
            workers=workers,
            logger=self._logger,
            backoff=backoff,
            meter=meter_of(name, clock),
        )
        self.queue: WorkQueue[str] = self._pool.queue

    def enqueue(self, obj: Object) -> None:
        """Look at this object soon: a handler for adds and deletes."""
        self.queue.add(key_of(obj))

    def enqueue_update(self, _old: Object, new: Object) -> None:
        """Look at the changed object soon: a handler for updates."""
        self.queue.add(key_of(new))

    def enqueue_owner(self, kind: str) -> Callable[[Object], None]:
        """Return a handler that enqueues the object's controller when that is of `kind`."""

        def handler(obj: Object) -> None:
            owner = controller_of(obj)
            if owner is not None and owner.get("kind") == kind:
                self.queue.add(f"{namespace_of(obj)}/{owner['name']}")

        return handler

    def watch(self, informer: Informer) -> None:
        """Enqueue every object of the informer whenever it changes."""
        informer.add_handler(self.enqueue, self.enqueue_update, self.enqueue)

    def watch_owned(self, informer: Informer, kind: str) -> None:
        """Enqueue the controller of `kind` of every object of the informer whenever that object changes."""
        handler = self.enqueue_owner(kind)

        def on_update(old: Object, new: Object) -> None:
            if controller_of(old) != controller_of(new):
                handler(old)
            handler(new)

        informer.add_handler(handler, on_update, handler)

    def begin(self) -> None:
        """Reconcile from now on until `stop`, on threads that come and go; returns at once."""
        self._pool.begin()

    def wait_ended(self, seconds: float | None = None) -> bool:
        """Wait until `stop` was called and the last worker is done, at most so long; tell whether it is so.

        Args:
            seconds: of the machine's time; None for as long as it takes.
        """
        return self._pool.wait_ended(seconds)

    def run(self) -> None:
        """Reconcile until `stop`: for those who have a thread that waits for it."""
        self.begin()
        self.wait_ended()

    def stop(self) -> None:
        """End the loop once the keys being worked on are done; idempotent, from any thread."""
        self._pool.stop()

    def drain(self, limit: int = 10_000) -> int:
        """Reconcile what is ready now on this thread; return how many keys that were.

        Raises:
            RuntimeError: there was still more to do after `limit` keys: the controller does not come to rest.
        """
        done = 0
        while (key := self._pool.take(block=False)) is not None:
            done += 1
            if done >= limit:
                raise RuntimeError(f"controller {self.name!r} does not come to rest, last key {key!r}")
        return done

    def _reconcile(self, key: str) -> None:
        try:
            again = self._sync(key)
        except (NotYet, Conflict, NotFound, AlreadyExists) as error:
            # Mostly the cache was behind; what it misses is on its way.
            self._put_off(key, error, logging.DEBUG)
        except Forbidden as error:
            if not namespace_is_going(error):
                self._put_off(key, error)
        except (ApiError, OSError) as error:
            self._put_off(key, error)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again)

    def _put_off(self, key: str, error: Exception, level: int = logging.WARNING) -> None:
        if self._max_retries is not None and self.queue.failures(key) >= self._max_retries:
            self.queue.forget(key)
            self._logger.warning("%s %r: %s; dropped until it changes", self.name, key, error)
            return
        delay = self.queue.add_rate_limited(key)
        self._logger.log(level, "%s %r: %s; again in %.3f s", self.name, key, error, delay)


def namespace_is_going(error: ApiError) -> bool:
    """Tell whether a creation was refused because its namespace is being deleted: then there is nothing to retry."""
    return isinstance(error, Forbidden) and any(cause.get("reason") == "NamespaceTerminating" for cause in error.causes)
