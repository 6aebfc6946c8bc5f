"""OfficeHours: signed names may look at everything but secrets, and no namespace is deleted on a weekend."""

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision, Rules
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin

_LOOKING = frozenset({"get", "list", "watch"})
_SATURDAY = 5


class OfficeHours(Plugin):
    """Allows looking, denies weekend deletions, has no opinion on anything else."""

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Decide; what depends on the day may not be remembered."""
        if attributes.verb == "delete" and attributes.resource == "namespaces":
            weekend = self.context.clock.now().weekday() >= _SATURDAY
            return Decision("deny" if weekend else "no opinion", "namespaces stay over the weekend", cacheable=False)
        looks = attributes.verb in _LOOKING and attributes.is_resource and attributes.resource != "secrets"
        if looks and "signed:names" in attributes.user.groups:
            return Decision("allow", "signed names may look")
        return NO_OPINION

    @hookimpl
    def authz_epoch(self) -> int:
        """Stay at 0: what may be remembered never changes."""
        return 0

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """List what is always allowed; the exception for secrets cannot be said in rules."""
        return Rules(incomplete="signed:names" in user.groups)
