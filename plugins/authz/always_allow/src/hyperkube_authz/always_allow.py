"""AlwaysAllow: no authorization at all, for a cluster that only its owner can reach."""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import Attributes, Decision, Rules
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin

_ALLOWED = Decision("allow")


class AlwaysAllow(Plugin):
    """Allows everything to everybody."""

    may_block = False

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Allow it."""
        return _ALLOWED

    @hookimpl
    def authz_epoch(self) -> int:
        """Never change."""
        return 0

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """Return the two rules that allow everything."""
        return Rules(
            [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}], [{"verbs": ["*"], "nonResourceURLs": ["*"]}]
        )
