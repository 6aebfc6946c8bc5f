"""Elements of sets and maps that several service ports may want: the ports of a service have one cluster IP."""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube_proxier.nftables.service_rules import Element

from hyperkube.hookspecs.proxier import ServicePortName


class SharedElements:
    """Which ports want which elements; of those that differ for one key, the one that came first counts."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[str, str], dict[ServicePortName, Element]] = {}
        self._before: dict[tuple[str, str], Element | None] = {}
        """What counted for the keys touched since `changes` was asked for."""

    def add(self, owner: ServicePortName, element: Element) -> None:
        """Have a port want an element."""
        key = element.container, element.key
        self._touch(key)
        self._wanted.setdefault(key, {})[owner] = element

    def remove(self, owner: ServicePortName, element: Element) -> None:
        """Have a port want an element no more."""
        key = element.container, element.key
        self._touch(key)
        owners = self._wanted.get(key, {})
        owners.pop(owner, None)
        if not owners:
            self._wanted.pop(key, None)

    def all(self) -> list[Element]:
        """Return what counts, and forget what changed."""
        self._before = {}
        return [next(iter(owners.values())) for owners in self._wanted.values()]

    def changes(self) -> Iterator[tuple[Element | None, Element | None]]:
        """Yield what counted before and counts now, where that differs, and forget it."""
        before, self._before = self._before, {}
        for key, old in before.items():
            new = self._current(key)
            if new != old:
                yield old, new

    def _current(self, key: tuple[str, str]) -> Element | None:
        owners = self._wanted.get(key)
        return next(iter(owners.values())) if owners else None

    def _touch(self, key: tuple[str, str]) -> None:
        if key not in self._before:
            self._before[key] = self._current(key)
