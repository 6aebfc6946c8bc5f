"""The parameters of operations, each described in a line of our own."""

from __future__ import annotations

from hyperkube.machinery.objects import Object

_QUERY: dict[str, tuple[str, str]] = {
    "allowWatchBookmarks": ("boolean", "Whether a watch also sends bookmarks, which tell how far it has come."),
    "command": ("string", "The program to run, and its arguments."),
    "container": ("string", "The container; the only or default one if it is left out."),
    "continue": ("string", "Where an earlier list stopped, to read on from there."),
    "dryRun": ("string", "With All, everything is done but storing."),
    "fieldManager": ("string", "The name under which the changed fields are owned; at most 128 printable characters."),
    "fieldSelector": ("string", "Only objects whose fields have these values."),
    "fieldValidation": (
        "string",
        "About unknown and duplicate fields: Ignore drops them, Warn (the default) also warns, Strict refuses.",
    ),
    "follow": ("boolean", "Whether to go on with what the container writes from now on."),
    "force": ("boolean", "Whether server-side apply takes fields over from other managers."),
    "gracePeriodSeconds": ("integer", "The seconds the object has to end by itself; zero is at once."),
    "ignoreStoreReadErrorWithClusterBreakingPotential": (
        "boolean",
        "Whether to delete an object that cannot be read, without finalizers and preconditions.",
    ),
    "insecureSkipTLSVerifyBackend": ("boolean", "Whether to trust the kubelet whatever its certificate."),
    "labelSelector": ("string", "Only objects whose labels fit."),
    "limit": ("integer", "The most objects to answer with; more come with a continue token."),
    "limitBytes": ("integer", "The most bytes to answer with."),
    "orphanDependents": ("boolean", "Whether objects owned by this one stay; deprecated, use propagationPolicy."),
    "path": ("string", "The path at the other end."),
    "ports": ("integer", "The ports to forward."),
    "previous": ("boolean", "Whether to answer with what the container wrote before its last restart."),
    "propagationPolicy": ("string", "What becomes of owned objects: Orphan, Background or Foreground."),
    "resourceVersion": ("string", "The revision that the answer must have, or must not be older than."),
    "resourceVersionMatch": ("string", "How resourceVersion is meant: Exact or NotOlderThan."),
    "sendInitialEvents": ("boolean", "Whether a watch begins with an event for each object there is."),
    "shardSelector": ("string", "Only objects of this part of a divided collection."),
    "sinceSeconds": ("integer", "Only what was written in the last seconds."),
    "stderr": ("boolean", "Whether to connect standard error."),
    "stdin": ("boolean", "Whether to connect standard input."),
    "stdout": ("boolean", "Whether to connect standard output."),
    "stream": ("string", "Which stream of the log: All, Stdout or Stderr."),
    "tailLines": ("integer", "Only the last lines."),
    "timeoutSeconds": ("integer", "After this many seconds the request ends."),
    "timestamps": ("boolean", "Whether each line begins with its time."),
    "tty": ("boolean", "Whether to give the program a terminal."),
    "watch": ("boolean", "Whether to answer with a stream of changes instead of a list."),
}

LIST = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
)
WRITE = ("dryRun", "fieldManager", "fieldValidation")
PATCH = (*WRITE, "force")
DELETE = (
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
)
DELETE_COLLECTION = tuple(sorted({*DELETE, *LIST} - {"allowWatchBookmarks", "watch"}))
CONNECT = {
    "attach": ("container", "stderr", "stdin", "stdout", "tty"),
    "exec": ("command", "container", "stderr", "stdin", "stdout", "tty"),
    "log": (
        "container",
        "follow",
        "insecureSkipTLSVerifyBackend",
        "limitBytes",
        "previous",
        "sinceSeconds",
        "stream",
        "tailLines",
        "timestamps",
    ),
    "portforward": ("ports",),
    "proxy": ("path",),
}
"""The query parameters of what is connected to; ``log`` is read."""


def query(names: tuple[str, ...]) -> list[Object]:
    """Return query parameters by name."""
    return [
        {
            "name": name,
            "in": "query",
            "description": _QUERY[name][1],
            "schema": {"type": _QUERY[name][0], "uniqueItems": True},
        }
        for name in names
    ]


def in_path(kind: str, *, named: bool, namespaced: bool) -> list[Object]:
    """Return the parameters of a whole path: its variable parts, and whether to print prettily."""
    out = []
    if named:
        out.append(_path("name", f"name of the {kind}"))
    if namespaced:
        out.append(_path("namespace", "object name and auth scope, such as for teams and projects"))
    return [*out, PRETTY]


def rest_of_path() -> Object:
    """Return the parameter for the path at the other end of a proxy."""
    return _path("path", "path to the resource")


def _path(name: str, description: str) -> Object:
    return {
        "name": name,
        "in": "path",
        "description": description,
        "required": True,
        "schema": {"type": "string", "uniqueItems": True},
    }


PRETTY: Object = {
    "name": "pretty",
    "in": "query",
    "description": "Whether to indent the answer; browsers, curl and wget get it so unless they ask for 'false'.",
    "schema": {"type": "string", "uniqueItems": True},
}
