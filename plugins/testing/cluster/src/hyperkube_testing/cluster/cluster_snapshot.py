"""`ClusterSnapshot`: how a cluster was at one moment, from which any number of others begin.

Setting up what a test needs is done once; every test gets a cluster of its own in which it is all there::

    with ControlPlane(hollow_nodes=1) as cluster:
        fill(cluster.client)
        seed = cluster.snapshot()

    with seed.cluster() as one, seed.cluster() as other:
        ...  # neither sees what happens in the other

What never changes is shared: the stored objects, their history, and what the watch caches hold of them.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from hyperkube.machinery.clock import Clock, FakeClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Forkable

if TYPE_CHECKING:
    from hyperkube_host.apiserver.assembly.warm_state import WarmState
    from hyperkube_host.apiserver.server import ApiServer

    from hyperkube.storage.store import Store


Cluster = TypeVar("Cluster")
"""The class of the clusters that are made from a snapshot."""


class ForkableStore(Forkable, Protocol):
    """A store that can be forked and closed."""

    def close(self) -> None:
        """See `hyperkube.storage.store.Store`."""


ATTEMPTS = 5
"""How often a busy cluster is asked for a moment at which its caches and its store agree."""


class ClusterSnapshot(Generic[Cluster]):
    """A store at rest, what an API server knew of it, and what the cluster was made of.

    Attributes:
        store: is only forked.
        warm: for the API servers of the forks.
        close: gives the store's files back at once; else they go away with the snapshot.
    """

    def __init__(
        self,
        store: ForkableStore,
        warm: WarmState,
        clock: Clock,
        make: Callable[..., Cluster],
        arguments: Mapping[str, Any],
        folder: str = "",
    ) -> None:
        self.store = store
        self.warm = warm
        self._fake_now = clock.now() if isinstance(clock, FakeClock) else None
        self._make = make
        self._arguments = dict(arguments)
        self.close = weakref.finalize(self, _discard, store, folder)

    @classmethod
    def of(
        cls,
        server: ApiServer,
        store: Store,
        clock: Clock,
        make: Callable[..., Cluster],
        arguments: Mapping[str, Any],
    ) -> ClusterSnapshot[Cluster]:
        """Take a snapshot of a running cluster, from which ``make(**arguments, snapshot=...)`` makes others.

        Raises:
            RuntimeError: its store cannot be forked.
        """
        if not isinstance(store, Forkable):
            raise RuntimeError(f"a cluster on {type(store).__name__} has no snapshots: its store cannot be forked")  # noqa: TRY004 - the store is of the right type, but cannot do this
        folder = "" if isinstance(store, MemoryStore) else tempfile.mkdtemp(prefix="hyperkube-")
        for attempt in range(1, ATTEMPTS + 1):
            warm = server.warm_state()
            forked = store.fork(Path(folder, str(attempt)), FakeClock(clock.now()))  # its leases do not end
            if forked.revision() == warm.cache.revision or attempt == ATTEMPTS:
                break  # if they differ, the forks' caches see it and read their stores
            forked.close()
        return cls(cast("ForkableStore", forked), warm, clock, make, arguments, folder)

    def cluster(self, **changes: Any) -> Cluster:
        """Return a cluster that begins like this, not yet started.

        Args:
            changes: arguments of `ControlPlane` that shall be other than those of the cluster that this is a snapshot
                of. If that had a `FakeClock`, each has one of its own that starts with the time of the snapshot.
        """
        own: dict[str, Any] = dict(self._arguments)
        if self._fake_now is not None:
            own["clock"] = FakeClock(self._fake_now)
        return self._make(**{**own, **changes}, snapshot=self)


def _discard(store: ForkableStore, folder: str) -> None:
    store.close()
    if folder:
        shutil.rmtree(folder)
