"""listed-registries: images come from registries that a ConfigMap lists."""

from hyperkube_admission.python_policy import Cluster, Review, validates

NAMESPACE = "kube-system"


@validates("pods", operations=["CREATE", "UPDATE"], exclude_namespaces=["kube-*"])
def listed_registries(review: Review, cluster: Cluster) -> str | None:
    """Refuse images from elsewhere; without the ConfigMap nothing is refused, but every client is warned."""
    name = review.params.get("configMap", "registries")
    listed = cluster.get("ConfigMap", NAMESPACE, name)
    if listed is None:
        review.warn(f"ConfigMap {NAMESPACE}/{name} is missing: images may come from anywhere")
        return None
    allowed = listed.get("data", {}).get("registries", "").split()
    for container in review.object["spec"]["containers"]:
        registry, slash, _ = container["image"].partition("/")
        if not slash or registry not in allowed:
            return f"image {container['image']!r} must come from one of: {', '.join(allowed)}"
    review.audit("registries", " ".join(allowed))
    return None
