"""Zones: volumes once named them by the nodes' labels, drivers name them by a label of their own.

Sources: csi-translation-lib ``plugins/in_tree_volume.go``, ``plugins/vsphere_volume.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hyperkube.machinery.objects import Object, labels_of

ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
REGIONS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
"""The labels of zones and regions, the old ones first."""
BETWEEN_ZONES = "__"
"""What stands between the zones of a volume's label."""


def terms_of(volume: Object) -> list[Object]:
    """Return the node selector terms of a PersistentVolume."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required") or {}
    return list(required.get("nodeSelectorTerms") or ())


def zone_label(volume: Object) -> str:
    """Return the label by which a volume names zones, in its terms or else on itself; the newer for none."""
    named = {row["key"] for term in terms_of(volume) for row in term.get("matchExpressions") or ()}
    return next((key for known in (named, labels_of(volume)) for key in reversed(ZONES) if key in known), ZONES[-1])


def values_of(terms: Iterable[Object], key: str) -> list[str]:
    """Return what terms want of a label, sorted."""
    rows = (row for term in terms for row in term.get("matchExpressions") or () if row["key"] == key)
    return sorted({value for row in rows for value in row.get("values") or ()})


def renamed(terms: Iterable[Object], names: dict[str, str]) -> list[Object]:
    """Return terms with other labels."""
    return [
        {**term, "matchExpressions": [{**row, "key": names.get(row["key"], row["key"])} for row in rows]}
        if (rows := term.get("matchExpressions"))
        else term
        for term in terms
    ]


def with_row(terms: Sequence[Object], key: str, values: Sequence[str]) -> list[Object]:
    """Return terms that each want one of some values of a label, too."""
    row = {"key": key, "operator": "In", "values": list(values)}
    return [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), row]} for term in terms or [{}]]


def moved_terms(volume: Object, topology: str) -> list[Object]:
    """Return the node selector terms of a PersistentVolume as its driver has them: with the driver's label for zones.

    Where the terms name no zone, the volume's zone label makes one. A driver without a label moves none.
    """
    terms, key = terms_of(volume), zone_label(volume)
    if not topology:
        return terms
    if values_of(terms, key):
        return renamed(terms, {key: topology, REGIONS[0]: REGIONS[-1]} if key == ZONES[0] else {key: topology})
    zones = sorted({zone.strip() for zone in labels_of(volume).get(key, "").split(BETWEEN_ZONES)} - {""})
    return with_row(terms, topology, zones) if zones else terms


def moved_back(volume: Object, topology: str, region_of: Callable[[Sequence[str]], str] | None) -> Object:
    """Return a PersistentVolume of a driver that names its zones by the nodes' labels, on itself as well."""
    key = zone_label(volume)
    terms = renamed(terms_of(volume), {topology: key})
    if region_of is not None:
        region = REGIONS[ZONES.index(key)]
        terms = [
            with_row([term], region, [region_of(zones)])[0]
            if (zones := values_of([term], key)) and not values_of([term], region)
            else term
            for term in terms
        ]
        keys = {key: BETWEEN_ZONES.join(values_of(terms, key))}
        if len(regions := values_of(terms, region)) == 1:
            keys[region] = regions[0]
    else:
        keys = {key: BETWEEN_ZONES.join(values_of(terms, key))}
    labels = {name: value for name, value in keys.items() if value} | labels_of(volume)
    meta = {**volume["metadata"], **({"labels": labels} if labels else {})}
    spec = {**volume["spec"], **({"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms else {})}
    return {**volume, "metadata": meta, "spec": spec}


def both_moved(volume: Object, topology: str, region_topology: str) -> list[Object]:
    """Return the node selector terms with the labels of a driver that has one for zones and one for regions.

    Where the terms name no zone, or no region, the volume's own label is one: a single value.
    """
    terms, key = terms_of(volume), zone_label(volume)
    for label, moved in ((key, topology), (REGIONS[ZONES.index(key)], region_topology)):
        if values_of(terms, label):
            terms = renamed(terms, {label: moved})
        elif value := labels_of(volume).get(label):
            terms = with_row(terms, moved, [value])
    return terms


def both_moved_back(volume: Object, topology: str, region_topology: str) -> Object:
    """Return a PersistentVolume of such a driver that names zones and regions by the nodes' labels, on itself too."""
    key = zone_label(volume)
    region = REGIONS[ZONES.index(key)]
    terms = renamed(terms_of(volume), {topology: key, region_topology: region})
    found = {label: values[0] for label in (key, region) if (values := values_of(terms, label))}
    labels = found | labels_of(volume)
    meta = {**volume["metadata"], **({"labels": labels} if labels else {})}
    spec = {**volume["spec"], **({"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms else {})}
    return {**volume, "metadata": meta, "spec": spec}


def allowed_topologies(terms: Iterable[Object], topology: str) -> list[Object]:
    """Return the allowed topologies of a class with the driver's label for zones."""
    return [
        {"matchLabelExpressions": [{**row, "key": topology} if row["key"] in ZONES else row for row in rows]}
        for term in terms
        for rows in (term.get("matchLabelExpressions") or (),)
    ]
