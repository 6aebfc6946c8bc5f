"""What stands for parts of a server that others are given before it is built."""

from __future__ import annotations

from typing import Any

from hyperkube.client.client import Client
from hyperkube.hookspecs.authz import Attributes, Authorizer, Decision, Rules
from hyperkube.machinery.users import UserInfo


class LateAuthorizer:
    """Stands for the authorizers in contexts that are built before them."""

    def __init__(self) -> None:
        self.real: Authorizer | None = None

    def authorize(self, attributes: Attributes) -> Decision:
        """Ask the real ones."""
        return self._get().authorize(attributes)

    def rules(self, user: UserInfo, namespace: str) -> Rules:
        """Ask the real ones."""
        return self._get().rules(user, namespace)

    def _get(self) -> Authorizer:
        if self.real is None:
            raise RuntimeError("the authorizers are asked before they are built")
        return self.real


class LateClient:
    """Stands for the loopback client in contexts that are built before the pipeline."""

    def __init__(self) -> None:
        self.real: Client | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)
