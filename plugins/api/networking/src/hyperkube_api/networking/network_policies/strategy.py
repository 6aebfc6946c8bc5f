"""What happens when a NetworkPolicy is created, changed or deleted.

Source: kubernetes pkg/registry/networking/networkpolicy.
"""

from __future__ import annotations

from hyperkube_api.core.ip_warnings import cidr_warnings

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path
from hyperkube.machinery.objects import Object


class NetworkPolicyStrategy(Strategy):
    """Which pods may talk to which."""

    metadata_checks = ("change",)
    generation = True

    def default(self, obj: Object) -> None:
        """Fill in protocols and directions."""
        from hyperkube_api.networking.network_policies.defaults import default_network_policy

        default_network_policy(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selectors, peers and ports."""
        from hyperkube_api.networking.network_policies.validation import validate_network_policy

        return validate_network_policy(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation; ranges that are stored stay allowed."""
        from hyperkube_api.networking.network_policies.validation import validate_network_policy

        return validate_network_policy(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of ranges that are not written in their canonical form."""
        return [
            text
            for member, peers in (("ingress", "from"), ("egress", "to"))
            for index, rule in enumerate((obj.get("spec") or {}).get(member) or ())
            for number, peer in enumerate(rule.get(peers) or ())
            for text in _block_warnings(
                ROOT.child("spec", member).index(index).child(peers).index(number).child("ipBlock"),
                peer.get("ipBlock") or {},
            )
        ]


def _block_warnings(path: Path, block: Object) -> list[str]:
    found = cidr_warnings(path.child("cidr"), block.get("cidr") or "")
    for index, text in enumerate(block.get("except") or ()):
        found += cidr_warnings(path.child("except").index(index), text)
    return found
