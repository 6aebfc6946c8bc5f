"""Results that are worth keeping only from their second time on, as the objects of one template come in bursts."""

from __future__ import annotations

from hyperkube.machinery.recent import Key, Recent, Value

BUSY_TEMPLATES = 64
"""How many are remembered where each costs several times its JSON: the objects of one come in bursts."""


class Recurring(Recent[Key, Value]):
    """A map for what is worth keeping only if it comes again: what came once leaves nothing but its hash."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._seen: Recent[int, bool] = Recent(4 * size)

    def recurs(self, key: Key) -> bool:
        """Tell whether a key came before, as far as is remembered; of others with the same hash it may be said, too."""
        mark = hash(key)
        if self._seen.get(mark):
            return True
        self._seen.keep(mark, True)
        return False
