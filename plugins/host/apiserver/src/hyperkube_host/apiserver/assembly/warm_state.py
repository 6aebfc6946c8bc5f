"""What one API server hands to another whose store is a fork of its own."""

from __future__ import annotations

from typing import NamedTuple

from hyperkube_lib.watch_cache.cache_state import CacheState


class WarmState(NamedTuple):
    """What an API server need not find out anew because another one knew it of the store that its own is a fork of.

    Attributes:
        cache: what was cached.
        bootstrapped: whether the system objects had been created and compared.
    """

    cache: CacheState
    bootstrapped: bool
