"""What the objects of one template have in common, such as the pods of a ReplicaSet."""

from __future__ import annotations

import orjson
from hyperkube_host.apiserver.resources.recurring import BUSY_TEMPLATES

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, Recent


def template_text(obj: Object) -> bytes | None:
    """Return an object as JSON without what is its own: name, uid, time of creation, who manages which field.

    None if that is no JSON, or too long to be kept.
    """
    try:
        common = {**obj["metadata"], "name": "", "uid": "", "creationTimestamp": "", "managedFields": ""}
        text = orjson.dumps({**obj, "metadata": common})
    except (TypeError, LookupError):
        return None
    return text if len(text) <= TEMPLATE_MAX else None


def text_of_made(obj: Object, template: bytes) -> bytes | None:
    """Return the text of a new object that is made from a JSON of its template, but for its name and namespace."""
    meta = obj["metadata"]
    key = (template, meta.get("namespace") or "", "name" in meta)
    text = _texts.get(key)
    if text is None:
        text = template_text(obj)
        if text is not None:
            _texts.keep(key, text)
    return text


_texts: Recent[tuple[bytes, str, bool], bytes] = Recent(BUSY_TEMPLATES)


def metadata_text(meta: Object) -> bytes:
    """Return, as JSON, what the objects of a template have in common in their metadata, whatever the order.

    Raises:
        TypeError: there is what is no JSON.
    """
    common = {**meta, **dict.fromkeys(("name", "uid", "creationTimestamp", "generation", "managedFields"))}
    return orjson.dumps(common, option=orjson.OPT_SORT_KEYS)
