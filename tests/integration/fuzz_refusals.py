"""Does a refusal say what was wrong? It has to name a field, a parameter, a header or the object."""

from __future__ import annotations

import re

OF_A_HEADER = (
    "media type",
    "Unsupported Media Type",
    "Not Acceptable",
    "the object provided is unrecognized",
    "does not appear to be a protobuf message",
    "looking for beginning of value",
)
"""How Kubernetes words that ``Content-Type`` or ``Accept`` is to blame, or the whole body."""
OF_A_SELECTOR = ("field label not supported", "known field selector", "unable to parse requirement", "invalid selector")
"""How Kubernetes words that a selector is to blame."""
OF_EVERY_OBJECT = {"apiversion", "kind", "metadata", "name", "namespace", "uid"}
"""Fields that a refusal may name although the body leaves them out."""
FROM_THE_STANDARD = (
    "could not find the requested resource",
    "does not allow this method on the requested resource",
    "address not allowed",
    "the server rejected our request due to an error in our request",
    "exceeded max depth",
)
"""Texts that Kubernetes itself answers with, which name nothing."""
_WORD = re.compile(r"[\w.$-]{2,}")


def names_the_culprit(status, case):
    """Tell whether a Status says which part of a request it refuses."""
    message, details = status["message"], status.get("details") or {}
    causes = details.get("causes") or []
    if any(text in message for text in (*FROM_THE_STANDARD, *OF_A_HEADER, *OF_A_SELECTOR)):
        return True
    if status["code"] == 422 and status.get("reason") == "Invalid":
        return bool(causes) and all(cause.get("field") for cause in causes)
    if details.get("name") and details["name"] in message:
        return True
    if any((value or '""') in message for _, value in case.query):
        return True
    if re.search(r"\w+ is required", message):
        return True
    return bool(set(_words(message)) & _words_of(case)) or any(cause.get("field") for cause in causes)


def _words(text):
    return {word.strip(".-").lower() for word in _WORD.findall(text)}


def _words_of(case):
    """Return the words of a request that a message may repeat: of its path, query and headers, and keys of its body."""
    pieces = [case.path, *(word for pair in case.query for word in pair)]
    pieces += [word for pair in case.headers.items() for word in pair]
    found = set().union(*map(_words, pieces))
    return OF_EVERY_OBJECT | found | _words(case.body.decode("utf-8", "replace")) | {case.method.lower()}
