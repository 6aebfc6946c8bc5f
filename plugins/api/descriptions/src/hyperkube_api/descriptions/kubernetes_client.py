"""What parameters and fields mean, as the Python client `kubernetes` says it, if it is installed.

The modules are read as text: importing the client takes seconds. All resources share the texts of the common
parameters, so those of the smallest group serve for all; connections and logs have their own.

Source: https://github.com/kubernetes-client/python, whose line breaks have become spaces
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from hyperkube_api.descriptions import library

DISTRIBUTION = "kubernetes"
_COMMON = "coordination_v1_api"
_METHODS = {
    "list": "list_namespaced_lease",
    "create": "create_namespaced_lease",
    "replace": "replace_namespaced_lease",
    "patch": "patch_namespaced_lease",
    "delete": "delete_namespaced_lease",
    "read": "read_namespaced_lease",
}
_COLLECTION = "delete_collection_namespaced_lease"
_VERB = re.compile(r"[a-z]+")
_OPERATION = re.compile(r"(connect|read)CoreV1(\w*Namespaced\w+|\w*Node\w+)")
_PARAMETER = re.compile(r"^ +:param (\w+): (.*)$", re.MULTILINE)
_FIELD = re.compile(
    r"""^    (\w+): .*?(?:serialization_alias="([^"]+)".*?)?description="((?:[^"\\]|\\.)*)\"""", re.MULTILINE
)
_WORDS_AND_SPACES = re.compile(r"([^ ]+)( *)")
_ENDS = (".", ":", ")")


def version() -> str:
    """Return the library's version, empty when it is not there."""
    return library.version(DISTRIBUTION)


def _text(module: str) -> str:
    return library.text(DISTRIBUTION, f"kubernetes/client/{module}.py")


def describe(wanted: Mapping[str, Collection[str]]) -> dict[str, dict[str, str]]:
    """Return texts by operation and parameter, for operations and names of their parameters.

    A parameter that an operation's own method does not have is described as the other operations describe it.
    """
    if not version():
        return {}
    homes: defaultdict[str, set[str]] = defaultdict(set)
    homes[_COMMON] |= {*_METHODS.values(), _COLLECTION}
    for operation in wanted:
        module, method = _home(operation)
        homes[module].add(method)
    known = {(module, method): texts for module in homes for method, texts in _texts(module, sorted(homes[module]))}
    usual = {name: text for (module, _), texts in known.items() if module == _COMMON for name, text in texts.items()}
    return {operation: _chosen(usual | known.get(_home(operation), {}), names) for operation, names in wanted.items()}


def fields(definition: str) -> dict[str, str]:
    """Return the texts of a definition's fields, each in one line; none where the client does not know the type."""
    *_, group, tag, kind = ("", "", *definition.split("."))
    name = f"{tag}_{library.snake(kind)}"
    text = _text(f"models/{name}") or _text(f"models/{group}_{name}")
    return {alias or own: library.unescaped(about) for own, alias, about in _FIELD.findall(text)}


def _chosen(texts: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: texts[name.lower()] for name in names if name.lower() in texts}


def _home(operation: str) -> tuple[str, str]:
    """Return the module and the method of an operation: its own if it is particular, else one like it."""
    own = _OPERATION.fullmatch(operation)
    if own and (own[1] == "connect" or own[2].endswith("Log")):
        return "core_v1_api", f"{own[1]}_{library.snake(own[2])}"
    verb = _VERB.match(operation)
    if verb and verb[0] == "delete" and re.search(r"[A-Z]\w*V\d\w*Collection", operation):
        return _COMMON, _COLLECTION
    return _COMMON, _METHODS.get(verb[0] if verb else "", "")


def _texts(module: str, methods: Collection[str]) -> Iterable[tuple[str, dict[str, str]]]:
    """Yield the parameters' texts of the methods, by name in lower case without underscores."""
    text = _text(f"api/{module}")
    for method in methods:
        begin = text.find(f"    def {method}(")
        docstring = text[begin:].split('"""', 2)[1] if begin >= 0 else ""
        found = {name.replace("_", "").lower(): _unfolded(about) for name, about in _PARAMETER.findall(docstring)}
        yield method, found


def _unfolded(text: str) -> str:
    r"""Return a text with line breaks, where the spaces that stand for them can be told from others.

    An even number of spaces was a blank line and an indent, an odd one a line break and an indent; two within a
    sentence are two spaces. After indented lines a point of a list begins a line too.
    """
    text = library.unescaped(text.removesuffix(" (required)"))
    out, indented = "", False
    for words, spaces in _WORDS_AND_SPACES.findall(text):
        breaks = 0
        if len(spaces) > 2 or (len(spaces) == 2 and (indented or words.endswith(_ENDS))):
            breaks = 2 - len(spaces) % 2
            indented = len(spaces) > breaks
        elif spaces and indented and text[len(out) + len(words) + 1 :].startswith("- "):
            breaks, indented = 1, False
        out += words + "\n" * breaks + spaces[breaks:]
    return out
