"""The thin loop around a controller's decisions: take a key, reconcile it, and try again later when that failed.

A controller builds a `ReconcileLoop` with its ``sync`` function and lets informer handlers enqueue keys. The loop is
a `hyperkube.hookspecs.controller.Controller`. Tests call `ReconcileLoop.drain` instead of running threads.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from hyperkube.client.informer import Informer
from hyperkube.client.queue_metrics import meter_of
from hyperkube.client.workqueue import DEFAULT_BACKOFF, WorkQueue
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, Conflict, Forbidden, HyperkubeError, NotFound
from hyperkube.machinery.objects import Object, controller_of, key_of, namespace_of

LINGER_SECONDS = 5.0
"""How long a worker waits for another key before it ends."""

Sync = Callable[[str], float | None]
"""Reconciles one key; returns the seconds after which it wants to look again by itself, or None."""


class NotYet(HyperkubeError):
    """What the key needs has not happened yet: look again after its back-off; no failure, nothing to report."""


class ReconcileLoop:
    """A queue of keys and the workers that reconcile them, one worker per key at a time.

    Workers are threads that come when keys wait for one, as many as are allowed, and go when there are no more: dozens
    of controllers that have nothing to do cost nothing.
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
    ) -> None:
        self.name = name
        self.queue: WorkQueue[str] = WorkQueue(
            clock, backoff=backoff, on_unserved=self._hire, meter=meter_of(name, clock)
        )
        self._sync = sync
        self._logger = logger or logging.getLogger(f"hyperkube.controller.{name}")
        self._workers = max(1, workers)
        self._changed = threading.Condition()
        self._begun = False
        self._at_work = 0

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
        with self._changed:
            self._begun = True
        for _ in range(min(self._workers, len(self.queue))):
            self._hire()

    def wait_ended(self, seconds: float | None = None) -> bool:
        """Wait until `stop` was called and the last worker is done, at most so long; tell whether it is so.

        Args:
            seconds: of the machine's time; None for as long as it takes.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self.queue.is_shut_down and not self._at_work, seconds)

    def run(self) -> None:
        """Reconcile until `stop`: for those who have a thread that waits for it."""
        self.begin()
        self.wait_ended()

    def stop(self) -> None:
        """End the loop once the keys being worked on are done; idempotent, from any thread."""
        self.queue.shut_down()
        with self._changed:
            self._changed.notify_all()

    def drain(self, limit: int = 10_000) -> int:
        """Reconcile what is ready now on this thread; return how many keys that were.

        Raises:
            RuntimeError: there was still more to do after `limit` keys: the controller does not come to rest.
        """
        done = 0
        while (key := self.queue.get(block=False)) is not None:
            self._reconcile(key)
            done += 1
            if done >= limit:
                raise RuntimeError(f"controller {self.name!r} does not come to rest, last key {key!r}")
        return done

    def _hire(self) -> None:
        with self._changed:
            if not self._begun or self._at_work >= self._workers or self.queue.is_shut_down:
                return
            self._at_work += 1
            threading.Thread(target=self._work, name=f"{self.name}-{self._at_work}", daemon=True).start()

    def _work(self) -> None:
        while True:
            while (key := self.queue.get(seconds=LINGER_SECONDS)) is not None:
                self._reconcile(key)
            with self._changed:  # a key that came just now was either seen by this look, or by who looked for workers
                if not len(self.queue) or self.queue.is_shut_down:
                    self._at_work -= 1
                    self._changed.notify_all()
                    return

    def _reconcile(self, key: str) -> None:
        try:
            again = self._sync(key)
        except (NotYet, Conflict, NotFound, AlreadyExists) as error:
            # Mostly the cache was behind; what it misses is on its way.
            delay = self.queue.add_rate_limited(key)
            self._logger.debug("%s %r: %s; again in %.3f s", self.name, key, error, delay)
        except Forbidden as error:
            if not namespace_is_going(error):
                self._put_off(key, error)
        except (ApiError, OSError) as error:
            self._put_off(key, error)
        except Exception:  # one broken object must not stop the loop for all others
            self.queue.add_rate_limited(key)
            self._logger.exception("%s failed on %r", self.name, key)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again)
        finally:
            self.queue.done(key)

    def _put_off(self, key: str, error: Exception) -> None:
        delay = self.queue.add_rate_limited(key)
        self._logger.warning("%s %r: %s; again in %.3f s", self.name, key, error, delay)


def namespace_is_going(error: ApiError) -> bool:
    """Tell whether a creation was refused because its namespace is being deleted: then there is nothing to retry."""
    return isinstance(error, Forbidden) and any(cause.get("reason") == "NamespaceTerminating" for cause in error.causes)
