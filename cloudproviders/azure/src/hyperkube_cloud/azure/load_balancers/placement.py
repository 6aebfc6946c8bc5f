"""Which of several standard load balancers a Service and a node belong to.

A Service stays where it is while that balancer is one of those that it may have; else it goes to one that is not there
yet, else to the one with the fewest rules. A node belongs to one balancer of each kind: that of its scale set, else one
whose selector fits, else one without a selector, of these where it is already, else where the fewest are.
Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer.go`` (getEligibleLoadBalancersForService,
getMostEligibleLBForService, accommodateNodesByPrimaryVMSet, accommodateNodesByNodeSelector).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hyperkube_cloud.azure.balancer_configs import BalancerConfig
from hyperkube_cloud.azure.load_balancers import service_annotations as asked
from hyperkube_lib.cloud_provider.services import service_name

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object, labels_of, name_of


def eligible(
    service: Object, namespace: Mapping[str, str], configs: Sequence[BalancerConfig], using: Collection[str]
) -> list[str]:
    """Return the names of the balancers that a Service may have, in the order of the file.

    Args:
        service: that is to be placed.
        namespace: the labels of its namespace.
        configs: all balancers.
        using: the names of those in which something of it is.

    Raises:
        CloudFailed: it may have none.
    """
    named = {each.lower() for each in asked.listed(service, "load-balancer-configurations")}
    chosen = [each for each in configs if not named or each.name.lower() in named]
    if not chosen:
        problem = "load balancers by annotation, but none of them is defined in cloud provider configuration"
        raise CloudFailed(f'service "{name_of(service)}" selects {len(named)} {problem}')
    closed = [each for each in chosen if not (each.allow_service_placement or each.name in using)]
    rest = [each for each in chosen if each not in closed]
    by_label = [each for each in rest if each.services is not None and not each.services.matches(labels_of(service))]
    rest = [each for each in rest if each not in by_label]
    by_namespace = [each for each in rest if each.namespaces is not None and not each.namespaces.matches(namespace)]
    rest = [each for each in rest if each not in by_namespace]
    if not rest:
        raise CloudFailed(
            f'service "{service_name(service)}" selects {_told(chosen, "load balancers")}, but'
            f" {_told(closed, 'of them')} have AllowServicePlacement set to false and the service is not using any of"
            f" them, {_told(by_label, 'of them')} do not match the service label selector, and"
            f" {_told(by_namespace, 'of them')} do not match the service namespace selector"
        )
    fitting = [each for each in rest if each.services is not None or each.namespaces is not None]
    return [each.name for each in fitting or rest]


def _told(configs: Sequence[BalancerConfig], what: str) -> str:
    return f"{len(configs)} {what} ({', '.join(each.name for each in configs)})"


def most_eligible(names: Sequence[str], using: Collection[str], rules: Mapping[str, int]) -> str:
    """Return the balancer that a Service gets, of those that it may have; `rules` are those that there are, by name."""
    held = next((name for name in names if name in using), None)
    if held is not None:
        return held
    missing = [name for name in names if name not in rules]
    return missing[0] if missing else min(names, key=lambda name: rules[name])


def node_places(
    nodes: Sequence[tuple[Object, str]],
    configs: Sequence[BalancerConfig],
    held: Mapping[str, Collection[str]],
) -> dict[str, list[Object]]:
    """Return the nodes of each balancer that is there; one that fits none is left out.

    Args:
        nodes: each with the name of its scale set or availability set.
        configs: all balancers.
        held: of each that there is the names of the nodes that it has.
    """
    able = [each for each in configs if each.name in held]
    places: dict[str, list[Object]] = {each.name: [] for each in able}
    others: list[Object] = []
    for node, of_set in nodes:
        own = next((each for each in able if of_set and each.primary_vm_set.lower() == of_set.lower()), None)
        if own is not None:
            places[own.name].append(node)
        else:
            others.append(node)
    waiting: list[tuple[Object, list[str]]] = []
    for node in others:
        fitting = _fitting(node, able)
        stays = next((name for name in fitting if name_of(node) in held[name]), None)
        if stays is not None:
            places[stays].append(node)
        elif fitting:
            waiting.append((node, fitting))
    for node, fitting in waiting:
        places[min(fitting, key=lambda name: len(places[name]))].append(node)
    return places


def _fitting(node: Object, able: Sequence[BalancerConfig]) -> list[str]:
    chosen = [each for each in able if each.nodes is not None and each.nodes.matches(labels_of(node))]
    return [each.name for each in chosen or [each for each in able if each.nodes is None]]
