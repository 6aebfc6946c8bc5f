"""Delete of a collection: one deletion after the other, answered with the list as it was.

Source: kubernetes apiserver ``pkg/registry/generic/registry/store.go`` (DeleteCollection).
"""

from __future__ import annotations

from hyperkube_host.apiserver.request.api_request import ApiRequest, Target
from hyperkube_host.apiserver.request.results import ListPage
from hyperkube_host.apiserver.rest.delete import delete_one
from hyperkube_host.apiserver.rest.delete_options import IGNORE_READ_ERROR, delete_options
from hyperkube_host.apiserver.rest.options import refuse
from hyperkube_host.apiserver.rest.read import list_objects
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.field import Path, invalid


def delete_collection(services: Services, request: ApiRequest, target: Target) -> ListPage:
    """Answer a DELETE of a collection.

    Raises:
        Invalid: an option has a wrong value, or is for single objects alone.
    """
    options = delete_options(services, request)
    if options.get(IGNORE_READ_ERROR):
        text = "is not allowed with DELETECOLLECTION, try again after removing the option"
        refuse("DeleteOptions", [invalid(Path(IGNORE_READ_ERROR), True, text)])
    page = list_objects(services, request, target)
    for cached in page.objects:
        one = Target(target.served, cached.namespace, cached.name)
        call = services.call(request, one, body=options)
        call.dry_run = bool(options.get("dryRun"))
        try:
            delete_one(services, request, one, call, dict(options))
        except NotFound:
            continue  # another request deleted it first
    return page
