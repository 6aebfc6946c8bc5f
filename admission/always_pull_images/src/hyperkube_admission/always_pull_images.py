"""AlwaysPullImages: what one tenant pulled is not free for the next.

An image already on the node would start for any pod that knows its name. With the pull policy ``Always`` the registry
sees the pod's own credentials every time.
Source: kubernetes ``plugin/pkg/admission/alwayspullimages``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import containers, containers_with_paths, spec_of
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import FieldError, Path, not_supported
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_ALWAYS = "Always"


def _brings_images(request: AdmissionRequest) -> bool:
    """Tell whether a pod is written with images that it did not have before."""
    if not request.writes("pods") and not request.updates("pods", subresource="ephemeralcontainers"):
        return False
    if request.old_object is None:
        return True
    known = {container.get("image") for container in containers(request.old_object)}
    return any(container.get("image") not in known for container in containers(request.object))


def _image_volumes(pod: Object) -> list[tuple[int, Object]]:
    volumes = spec_of(pod).get("volumes") or ()
    return [(place, volume["image"]) for place, volume in enumerate(volumes) if volume.get("image")]


class AlwaysPullImages(Plugin):
    """Sets the pull policy of every container of a written pod, then insists on it."""

    may_block = False
    handles = frozenset({"pods", "pods/ephemeralcontainers"})

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Pull always, whatever the author wrote."""
        if not _brings_images(request):
            return
        for container in containers(request.object):
            container["imagePullPolicy"] = _ALWAYS
        for _, image in _image_volumes(request.written()):
            image["pullPolicy"] = _ALWAYS

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Catch a later plugin that put another policy back."""
        if not _brings_images(request):
            return
        pod = request.written()
        errors: list[FieldError] = [
            not_supported(Path(path).child("imagePullPolicy"), container.get("imagePullPolicy", ""), [_ALWAYS])
            for path, container in containers_with_paths(pod)
            if container.get("imagePullPolicy") != _ALWAYS
        ]
        errors += [
            not_supported(Path(f"spec.volumes[{place}].image.pullPolicy"), image.get("pullPolicy", ""), [_ALWAYS])
            for place, image in _image_volumes(pod)
            if image.get("pullPolicy") != _ALWAYS
        ]
        if errors:
            raise Forbidden(aggregate(errors))
