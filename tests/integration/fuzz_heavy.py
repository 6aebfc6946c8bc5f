"""What the fuzz test sends near the limits: wide, deep, long numbers and words, aliases, many operations, many terms.

Each is a few hundred kilobytes at most, and must cost no more than it weighs; see `HEAVIEST`.
"""

from __future__ import annotations

import json

from fuzz_requests import BODIES, BROKEN, CLUSTER, JSON, YAML, Case, place
from hypothesis import strategies as st

HEAVIEST = 3.0
"""Seconds of processor time that answering one such request may take."""

KEYS = [key for key in sorted(BODIES) if key[1] not in CLUSTER]
COUNTS = st.sampled_from([1, 2, 3, 99, 100, 101, 255, 1000, 4096, 10_000])
DEPTHS = st.sampled_from([1, 127, 253, 254, 255, 256, 600, 1000, 5000, 12_000])
NUMBERS = st.sampled_from(
    ["9" * 4299, "9" * 4301, "-" + "9" * 20_000, "1e308", "1e309", "-1e999999", "0." + "1" * 5000, "1" + "0" * 400,
     "18446744073709551615", "18446744073709551616", "9223372036854775808", "1E400", "0e99999"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["9" * 5000, "1e" + "9" * 5000, "0x" + "f" * 5000, "9" * 5000 + "Ki", "x" * 70_000, "+99:99", "a/" * 3000, "*" * 5000,
     "2026-01-02T03:04:05+99:99", "2026-01-02T03:04:05." + "1" * 5000 + "Z", "9" * 5000 + "s", "1s" * 9000, "\0" * 300,
     "-" + "9" * 4500, "1" + "," * 9000, "TZ=" + "a" * 5000 + " * * * * *", "0-" + "9" * 5000 + " * * * *", "[" * 5000]
)  # fmt: skip
STRATEGIC, MERGE, PATCH = (
    f"application/{kind}+json" for kind in ("strategic-merge-patch", "merge-patch", "json-patch")
)


def _posted(key, body, content_type=JSON, query=()):
    where, resource = key
    return Case("POST", place(where, resource, BROKEN), query, {"content-type": content_type}, body, heavy=True)


def _patched(key, body, content_type, query=()):
    where, resource = key
    return Case(
        "PATCH", place(where, resource, BROKEN, "seed"), query, {"content-type": content_type}, body, heavy=True
    )


@st.composite
def wide(draw):
    """Members without number: unknown, duplicate, of a map, in an object at any place."""
    key, count = draw(st.sampled_from(KEYS)), draw(COUNTS)
    names = draw(st.sampled_from(["f%d", "f", "f%d\\u0022", "x" * 300 + "%d"]))
    more = ",".join(f'"{names % number if "%" in names else names}":{number}' for number in range(count // 2 + 1))
    text = json.dumps(BODIES[key])
    places = [at + 1 for at, char in enumerate(text) if char == "{"]
    at = draw(st.sampled_from(places))
    query = draw(st.sampled_from([(), (("fieldValidation", "Strict"),), (("fieldValidation", "Ignore"),)]))
    return _posted(key, (text[:at] + more + ("" if text[at] == "}" else ",") + text[at:]).encode(), query=query)


@st.composite
def long_values(draw):
    """A number or a word of any length at any place."""
    key = draw(st.sampled_from(KEYS))
    text = json.dumps(BODIES[key])
    places = [at for at in range(1, len(text)) if text[at - 2 : at] == ": "]
    at = draw(st.sampled_from(places))
    value = draw(NUMBERS | WORDS.map(json.dumps))
    end = json.JSONDecoder().raw_decode(text, at)[1]
    body = (text[:at] + value + text[end:]).encode()
    if draw(st.booleans()):
        return _posted(key, body, draw(st.sampled_from([JSON, YAML])))
    return _patched(key, body, draw(st.sampled_from([MERGE, STRATEGIC, "application/apply-patch+yaml"])),
                    (("fieldManager", "me"),))  # fmt: skip


@st.composite
def deep(draw):
    """Objects and lists in one another, in JSON, YAML and patches."""
    key, depth = draw(st.sampled_from(KEYS)), draw(DEPTHS)
    opening, closing = draw(st.sampled_from([('{"a":', "}"), ("[", "]"), ('{"spec":', "}"), ('[{"a":', "}]")]))
    nested = opening * depth + "1" + closing * depth
    text = json.dumps(BODIES[key])
    body = f"{text[:-1]},{json.dumps(draw(st.sampled_from(['x', 'spec', 'metadata', 'data'])))}:{nested}}}".encode()
    if draw(st.booleans()):
        return _posted(key, body, draw(st.sampled_from([JSON, YAML])))
    return _patched(key, body, draw(st.sampled_from([MERGE, STRATEGIC])))


@st.composite
def aliases(draw):
    """YAML that is little text and much document."""
    count, each = draw(st.sampled_from([2, 20, 60, 2000])), draw(st.integers(1, 9))
    how = draw(st.sampled_from(["[%s]", "{x: [%s]}", "{<<: [%s]}", "{<<: [%s], k: 1}", "{? [%s] : 1}"]))
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{number}: &a{number} " + how % ",".join([f"*a{number - 1}"] * each) for number in range(1, count)]
    end = draw(st.sampled_from(["data: *a{0}", "~: *a{0}", "? *a{0}\n: 1", "metadata: {{name: seed, labels: *a{0}}}"]))
    lines.append(end.format(count - 1))
    return _posted(draw(st.sampled_from(KEYS)), "\n".join(lines).encode(), YAML)


@st.composite
def operations(draw):
    """JSON patches of many and odd operations."""
    count = draw(st.sampled_from([1, 2, 500, 9_999, 10_000, 10_001]))
    odd = st.sampled_from([None, 5, [], {}, True, "", "add", "test", "copy", "move", "replace", "remove", "no"])
    path = st.sampled_from(
        [
            "",
            "/",
            "/data/k",
            "/metadata/finalizers/" + "9" * 5000,
            "/a" * 2000,
            "/metadata/labels",
            "/-",
            "/~2",
            "/spec/0",
        ]
    )
    operation = {"op": draw(odd), "path": draw(path | odd), "from": draw(path | odd), "value": draw(odd)}
    if draw(st.booleans()):
        operation.update({f"x{number}": number for number in range(20)})
    return _patched(draw(st.sampled_from(KEYS)), json.dumps([operation] * count).encode(), PATCH)


@st.composite
def many_items(draw):
    """Strategic merges of thousands of items, with their orders and directives."""
    count = draw(st.sampled_from([1, 100, 2000]))
    key = draw(st.sampled_from(["c%d", "c", ""]))
    items = [{"name": key % number if "%" in key else key, "image": "i"} for number in range(count)]
    for item in items[:: draw(st.integers(1, 3))]:
        item["$patch"] = draw(st.sampled_from(["delete", "merge", "replace", "x"]))
    spec = {"containers": items}
    if draw(st.booleans()):
        spec["$setElementOrder/containers"] = [{"name": item["name"]} for item in reversed(items)]
    if draw(st.booleans()):
        spec["$retainKeys"] = ["containers", *(f"k{number}" for number in range(count))]
    body = json.dumps({"spec": {"template": {"spec": spec}}}).encode()
    return _patched(("/apis/apps/v1", "deployments"), body, STRATEGIC, (("dryRun", "All"),))


def _lists(value):
    """Yield every list in an object."""
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, list):
            yield part
        if isinstance(part, dict | list):
            yield from _lists(part)


@st.composite
def copies(draw):
    """A list of any kind with thousands of items: all equal, numbered, empty or wrong."""
    key = draw(st.sampled_from([key for key in sorted(BODIES) if any(_lists(BODIES[key]))]))
    obj = json.loads(json.dumps(BODIES[key]))
    chosen = draw(st.sampled_from(list(_lists(obj))))
    first = json.dumps(chosen[0] if chosen else {})
    item = draw(st.sampled_from([first, "{}", '"a"', '"a%d"', '{"name": "a%d"}', '{"key": "a"}', "null", "[]", "1"]))
    count = draw(st.sampled_from([2, 100, 4000])) if len(item) < 200 else 500
    chosen[:] = [json.loads(item.replace("%d", str(number))) for number in range(count)]
    return _posted(key, json.dumps(obj).encode(), query=(("dryRun", "All"),))


@st.composite
def long_questions(draw):
    """Lists with selectors, versions, Accept headers and identities of any length."""
    where, resource = draw(st.sampled_from(KEYS))
    terms = draw(COUNTS)
    name, term = draw(st.sampled_from([("labelSelector", "!a,"), ("labelSelector", "a in (b),"), ("fieldSelector", "a=b,"),
                                       ("labelSelector", "a=" + "b" * 60 + ","), ("fieldSelector", "metadata.name=seed,"),
                                       ("labelSelector", "("), ("fieldSelector", "\\,")]))  # fmt: skip
    query = [(name, term * terms)]
    query.append(
        (draw(st.sampled_from(["resourceVersion", "limit", "timeout", "timeoutSeconds", "continue"])), draw(WORDS))
    )
    accept = draw(st.sampled_from([JSON, "a/b,", ";", "a/b;q=1;", f"{JSON};as=Table;v=v1;g=meta.k8s.io,", ","]))
    headers = {"accept": accept * (terms if accept != JSON else 1)}
    if draw(st.booleans()):
        headers["user-agent"] = draw(WORDS)
    return Case("GET", place(where, resource, BROKEN), tuple(query), headers, b"", heavy=True)


heavy = st.one_of(wide(), long_values(), deep(), aliases(), operations(), many_items(), copies(), long_questions())
