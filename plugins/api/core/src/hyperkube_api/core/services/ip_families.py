"""The IP families of a service: inferred, checked against the cluster, and kept in step with the addresses.

Source: kubernetes pkg/registry/core/service/storage/alloc.go and storage.go.
"""

from __future__ import annotations

from hyperkube_api.core.services.allocator import family_of
from hyperkube_api.core.services.cluster_ip_validation import validate_cluster_ips

from hyperkube.machinery.errors import Invalid
from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object

SERVICE = GroupKind("", "Service")
_OTHER = {"IPv4": "IPv6", "IPv6": "IPv4"}
_SPEC = ROOT.child("spec")


def normalize_cluster_ips(service: Object, old: Object | None) -> None:
    """Bring ``clusterIP`` and ``clusterIPs`` in step where a client wrote one and meant both, in place."""
    spec = service["spec"]
    single, several = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if old is None:
        if single and not several:
            spec["clusterIPs"] = [single]
        return
    old_single, old_several = old["spec"].get("clusterIP") or "", old["spec"].get("clusterIPs") or []
    if old_several and not several and old_single == single:
        spec["clusterIPs"] = several = list(old_several)
    if old_single != single and several == old_several:
        if single:
            spec["clusterIPs"] = [single]
        else:
            spec.pop("clusterIPs", None)


def init_families(service: Object, old: Object | None, configured: list[str]) -> None:
    """Fill in the families and their policy, in place.

    Raises:
        Invalid: the addresses, families and policy do not fit one another or the cluster.
    """
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        return
    _keep_preference(spec, old)
    if old is not None and _prefers_as_before(spec, old["spec"]):
        return
    bare = spec.get("clusterIP") == "None" and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        spec["ipFamilyPolicy"] = "RequireDualStack" if bare else "SingleStack"
    _refuse(service, validate_cluster_ips(service, old))
    errors = _released(spec, old["spec"]) if old is not None else []
    errors += _single(spec)
    _refuse(service, errors + _infer_from_addresses(spec, configured))
    families = spec.get("ipFamilies") or []
    if bare:
        families = families or [configured[0]]
        if spec["ipFamilyPolicy"] != "SingleStack" and len(families) == 1:
            families = [*families, _OTHER[families[0]]]
        spec["ipFamilies"] = families
        return
    _refuse(service, _cluster_problems(spec, configured))
    families = families or [configured[0]]
    if spec["ipFamilyPolicy"] != "SingleStack" and len(families) == 1 and _OTHER[families[0]] in configured:
        families = [*families, _OTHER[families[0]]]
    spec["ipFamilies"] = families


def _refuse(service: Object, errors: list[FieldError]) -> None:
    if errors:
        raise Invalid.about(SERVICE, service["metadata"].get("name") or "", errors)


def _keep_preference(spec: Object, old: Object | None) -> None:
    """An update that leaves families and policy out keeps the old ones."""
    if old is None or old["spec"].get("type") == "ExternalName":
        return
    if spec.get("ipFamilyPolicy") is None and old["spec"].get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = old["spec"]["ipFamilyPolicy"]
    if not spec.get("ipFamilies") and old["spec"].get("ipFamilies"):
        spec["ipFamilies"] = list(old["spec"]["ipFamilies"])


def _prefers_as_before(spec: Object, old: Object) -> bool:
    """Tell whether two families are preferred as ever: then what it got while the cluster had one or two stays."""
    members = ("ipFamilyPolicy", "clusterIPs", "ipFamilies")
    same = all((spec.get(member) or []) == (old.get(member) or []) for member in members)
    return same and spec.get("ipFamilyPolicy") == "PreferDualStack" and old.get("type") != "ExternalName"


def _released(spec: Object, old: Object) -> list[FieldError]:
    """Release what a service with a single family had of the second one; only such a service may."""
    errors: list[FieldError] = []
    for member, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        now, before = spec.get(member) or [], old.get(member) or []
        if spec["ipFamilyPolicy"] == "SingleStack":
            if now == before and len(now) > 1:
                spec[member] = now[:1]
        elif now and len(now) < len(before):
            text = f"must be 'SingleStack' to release the secondary {what}"
            errors.append(invalid(_SPEC.child("ipFamilyPolicy"), spec["ipFamilyPolicy"], text))
    return errors


def _single(spec: Object) -> list[FieldError]:
    if spec["ipFamilyPolicy"] != "SingleStack":
        return []
    text = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
    return [
        invalid(_SPEC.child("ipFamilyPolicy"), "SingleStack", text.format(what))
        for member, what in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families"))
        if len(spec.get(member) or ()) == 2
    ]


def _infer_from_addresses(spec: Object, configured: list[str]) -> list[FieldError]:
    families, errors = list(spec.get("ipFamilies") or []), list[FieldError]()
    addresses = spec.get("clusterIPs") or []
    for index, address in enumerate(addresses):
        if address == "None":
            break
        if index >= len(families):
            family = family_of(address)
            if family not in configured:
                at = _SPEC.child("clusterIPs").index(index)
                errors.append(invalid(at, addresses, f"{family} is not configured on this cluster"))
            else:
                families.append(family)
    if families:
        spec["ipFamilies"] = families
    return errors


def _cluster_problems(spec: Object, configured: list[str]) -> list[FieldError]:
    policy, families = spec["ipFamilyPolicy"], spec.get("ipFamilies") or []
    errors: list[FieldError] = []
    at = _SPEC.child("ipFamilyPolicy")
    if policy == "RequireDualStack" and len(configured) < 2:
        errors.append(invalid(at, policy, "this cluster is not configured for dual-stack services"))
    for index, family in enumerate(families):
        if family not in configured:
            errors.append(invalid(_SPEC.child("ipFamilies").index(index), family, "not configured on this cluster"))
    return errors
