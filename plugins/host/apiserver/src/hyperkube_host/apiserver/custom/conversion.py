"""Conversion between the versions of a custom resource: by name alone, or by a webhook.

An object is stored in one version, which the definition may move on; what was stored before keeps its own until it is
written again. So it is the object that says what it is converted from.

A webhook takes a while and may be away. Its answers are kept by object and revision, so that a list, a watch and a read
of one object ask once; lists ask about all their objects in one review.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/conversion``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import uuid4

import orjson
from hyperkube_host.apiserver.custom.conversion_review import (
    Converted,
    NoCommonVersion,
    NotConverted,
    chosen_version,
    read_answer,
    review,
)
from hyperkube_host.apiserver.resources.custom_codec import CustomCodec
from hyperkube_lib.webhooks.caller import Caller, CallFailed

from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object

TIMEOUT_SECONDS = 30
MEMORY_BYTES = 16 * 1024 * 1024
"""How much of its answers a conversion keeps, per version."""


class Convert(Protocol):
    """One way of converting objects of a kind; never changes what it gets."""

    @property
    def waits(self) -> bool:
        """Whether another server is asked, so that it may take long and may fail."""

    def __call__(self, objects: Sequence[Object], api_version: str) -> Converted:
        """Return objects in another API version; none of them is in it already.

        Raises:
            ApiError: they cannot be converted.
        """


class ByName:
    """The strategy ``None``: only the version's name changes."""

    waits = False

    def __call__(self, objects: Sequence[Object], api_version: str) -> Converted:
        """Return the objects under another version's name."""
        return [{**obj, "apiVersion": api_version} for obj in objects]


class ByWebhook:
    """The strategy ``Webhook``: a server of the definition's author says how its versions follow from each other."""

    waits = True

    def __init__(self, webhook: Object, caller: Caller) -> None:
        self._config: Object = webhook.get("clientConfig") or {}
        self._understood: Sequence[str] = webhook.get("conversionReviewVersions") or ()
        self._caller = caller

    def __call__(self, objects: Sequence[Object], api_version: str) -> Converted:
        """Ask the webhook.

        Raises:
            ApiError: it cannot be asked, refuses, or answers what cannot be used.
        """
        uid = str(uuid4())
        try:
            version = chosen_version(self._understood)
            answer = self._caller.post(self._config, review(objects, api_version, version, uid), TIMEOUT_SECONDS)
            return read_answer(answer, version, uid, objects, api_version)
        except NoCommonVersion as error:
            raise ApiError(str(error)) from error
        except CallFailed as error:
            raise ApiError(f"{_about(objects[0])} failed: {error}") from error
        except NotConverted as error:
            raise ApiError(f"{_about(objects[0])} {error}") from error


def _about(obj: Object) -> str:
    return f"conversion webhook for {obj.get('apiVersion')}, Kind={obj.get('kind')}"


class Memory:
    """Converted objects by uid and revision, the most recently used ones up to a number of bytes."""

    def __init__(self, limit: int = MEMORY_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, obj: Object) -> Object | None:
        """Return what became of an object, the caller's own, or None."""
        key = _identity(obj)
        with self._lock:
            body = self._kept.get(key)
            if body is None:
                return None
            self._kept.move_to_end(key)
        found: Object = orjson.loads(body)
        return found

    def put(self, obj: Object, converted: Object) -> None:
        """Keep what became of an object."""
        key, body = _identity(obj), orjson.dumps(converted)
        if not all(key):
            return
        with self._lock:
            self._size += len(body) - len(self._kept.pop(key, b""))
            self._kept[key] = body
            while self._size > self._limit:
                self._size -= len(self._kept.popitem(last=False)[1])


def _identity(obj: Object) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("uid") or "", meta.get("resourceVersion") or ""


class FromStorage:
    """Brings stored objects into one version, pruned by its schema; the defaults are those of the stored version."""

    def __init__(self, convert: Convert, codecs: Mapping[str, CustomCodec], kind: GroupVersionKind) -> None:
        self._convert = convert
        self._codecs = {codec.kind.api_version: codec for codec in codecs.values()}
        self._codec = codecs[kind.version]
        self._wanted = kind.api_version
        self._memory = Memory()

    def __call__(self, obj: Object) -> Object:
        """Return one stored object in this version."""
        return self.all([obj])[0]

    def all(self, objects: Sequence[Object]) -> Converted:
        """Return stored objects in this version.

        Raises:
            ApiError: one of them cannot be converted.
        """
        found: list[Object | None] = [self._known(obj) for obj in objects]
        missing = [index for index, obj in enumerate(found) if obj is None]
        if missing:
            sent = [self._as_stored(objects[index]) for index in missing]
            for index, converted in zip(missing, self._convert(sent, self._wanted), strict=True):
                made = found[index] = self._finished(converted)
                if self._convert.waits:
                    self._memory.put(objects[index], made)
        return [obj for obj in found if obj is not None]

    def _known(self, obj: Object) -> Object | None:
        if obj.get("apiVersion") == self._wanted:
            return self._codec.shaped(obj)
        return self._memory.get(obj) if self._convert.waits else None

    def _as_stored(self, obj: Object) -> Object:
        """Return an object as its own version shows it: with the defaults that came after it was stored."""
        codec = self._codecs.get(obj.get("apiVersion", ""))
        return codec.shaped(obj) if codec is not None else obj

    def _finished(self, obj: Object) -> Object:
        """Return a converted object without what its new version does not declare; that version adds no defaults."""
        return self._codec.pruned(obj)


class ToStorage:
    """Brings objects of one version into the one that is stored."""

    def __init__(self, convert: Convert, codec: CustomCodec) -> None:
        self._convert = convert
        self._codec = codec

    def __call__(self, obj: Object) -> Object:
        """Return an object in the storage version, with the defaults that every read would fill in.

        Raises:
            ApiError: it cannot be converted.
        """
        return self._codec.shaped(self._convert([obj], self._codec.kind.api_version)[0])
