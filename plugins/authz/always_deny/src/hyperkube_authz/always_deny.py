"""AlwaysDeny: refuses everything, to see what a client does then."""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import Attributes, Decision, Rules
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin

_REFUSED = Decision("no opinion", "Everything is forbidden.")


class AlwaysDeny(Plugin):
    """Lets no user do anything, the members of ``system:masters`` apart, who are allowed before it is asked."""

    may_block = False

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Give Kubernetes' reason for allowing nothing."""
        return _REFUSED

    @hookimpl
    def authz_epoch(self) -> int:
        """Never change."""
        return 0

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """Return no rules."""
        return Rules()
