"""Delete of a collection: as many deletions at a time as there are workers, answered with the list as it was.

Source: kubernetes apiserver ``pkg/registry/generic/registry/store.go`` (DeleteCollection).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ListPage
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest.delete import delete_one
from hyperkube_host.apiserver.rest.delete_options import IGNORE_READ_ERROR, delete_options
from hyperkube_host.apiserver.rest.options import refuse
from hyperkube_host.apiserver.rest.read import list_objects
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_lib.watch_cache.cached_object import CachedObject

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

    def delete(cached: CachedObject) -> None:
        one = Target(target.served, cached.namespace, cached.name)
        call = services.call(request, one, body=options)
        call.dry_run = bool(options.get("dryRun"))
        with suppress(NotFound):  # another request deleted it first
            delete_one(services, request, one, call, dict(options))

    workers = min(services.options.requests.delete_collection_workers, len(page.objects))
    if workers <= 1:
        for cached in page.objects:
            delete(cached)
        return page
    with ThreadPoolExecutor(workers, thread_name_prefix="delete-collection") as pool:
        list(pool.map(delete, page.objects))  # raises the first refusal; what has not begun by then is left
    return page
