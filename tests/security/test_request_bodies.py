"""What a client with few rights may send costs no more than it weighs, and what is wrong with it is the client's fault."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import ADMIN, Hostile, World, quickly, request

MAPS = "/api/v1/namespaces/a/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/a/deployments"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
MERGE = "application/merge-patch+json"
JSON_PATCH, STRATEGIC = "application/json-patch+json", "application/strategic-merge-patch+json"
YAML = "application/yaml"
LONG = "9" * 5000
DAEMONS, GENERATION = "/apis/apps/v1/namespaces/a/daemonsets", "deprecated.daemonset.template.generation"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def workload(**more):
    """Return what all workloads have in common, and more."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"selector": {"matchLabels": {"a": "b"}}, "template": template, **more}


def column(path):
    """Return a definition with one column."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    version["additionalPrinterColumns"] = [{"name": "c", "type": "string", "jsonPath": path}]
    names = {"plural": "longs", "kind": "Long"}
    spec = {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]}
    return {"metadata": {"name": "longs.example.com"}, "spec": spec}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("bodies"))
    hostile = Hostile(world)
    hostile.ask("POST", MAPS, {"metadata": {"name": "target"}, "data": {"k": "v"}})
    yield hostile
    world.close()


def named(name, **more):
    return {"metadata": {"name": name}, **more}


def members(text, count):
    """Return a ConfigMap with as many more members as a text makes them of a number."""
    more = ",".join(text % ((number,) * text.count("%")) for number in range(count))
    return f'{{"metadata":{{"generateName":"m-"}},{more}}}'.encode()


class TestStrictDecoding:
    @pytest.mark.parametrize("text", ['"f%d":1', '"f%d":1,"f%d":2', '"data":{"k%d":"v","k%d":"w"}'],
                             ids=["unknown", "duplicate", "duplicate keys"])  # fmt: skip
    def test_warnings_are_told_up_to_a_hundred_and_four_kibibytes(self, hostile, text):
        body = members(text, 15_000)
        with hostile.patiently(), hostile.connect() as connection:
            connection.sendall(request("POST", MAPS, b"Content-Type: application/json", b"Connection: close",
                                       credentials=ADMIN, body=body))  # fmt: skip
            head = quickly(lambda: b"".join(iter(lambda: connection.recv(65536), b""))).partition(b"\r\n\r\n")[0]

        warnings = [line for line in head.split(b"\r\n") if line.startswith(b"Warning: 299 ")]
        assert head.startswith(b"HTTP/1.1 201 ")
        assert 0 < len(warnings) <= 100
        assert sum(map(len, warnings)) < 8192

    def test_long_warnings_are_cut(self, hostile):
        body = members(f'"{"x" * 3000}%d":1', 50)
        with hostile.connect() as connection:
            connection.sendall(request("POST", MAPS, b"Content-Type: application/json", b"Connection: close",
                                       credentials=ADMIN, body=body))  # fmt: skip
            head = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")[0]

        warnings = [line for line in head.split(b"\r\n") if line.startswith(b"Warning: ")]
        assert len(warnings) == 16
        assert max(map(len, warnings)) < 300

    @pytest.mark.parametrize("text", ['"f%d":1', '"f%d":1,"f%d":2'])
    def test_strictly_the_first_hundred_refuse(self, hostile, text):
        status, answer = quickly(lambda: hostile.ask("POST", f"{MAPS}?fieldValidation=Strict", members(text, 15_000)))

        assert status == 400
        assert answer["message"].count("field") == 100 + answer["message"].count("fields")

    @pytest.mark.parametrize("part", ["labels", "annotations"])
    def test_of_ten_thousand_errors_a_thousand_are_told(self, hostile, part):
        wrong = {"metadata": {"name": "wrong", part: {f"a!{number}": "!" for number in range(10_000)}}}
        with hostile.patiently():
            status, answer = hostile.ask("POST", MAPS, wrong)

        assert status == 422
        assert len(answer["details"]["causes"]) == 1000
        assert answer["message"].endswith(" more")
        assert len(json.dumps(answer)) < 1_000_000

    @pytest.mark.parametrize(
        "below", ["[" + "1," * 30_000 + "1]", '{"a":1' + ',"b":2' * 30_000 + "}"], ids=["list", "object"]
    )
    def test_what_lies_below_a_long_name_costs_no_more_than_elsewhere(self, hostile, below):
        body = f'{{"{"k" * 1_000_000}":{below},"a":1,"a":2}}'.encode()

        answer = quickly(lambda: hostile.ask("PATCH", f"{MAPS}/target", body, MERGE))

        assert answer[0] == 200

    def test_an_error_that_shows_a_whole_list_is_not_told_for_each_item(self, hostile):
        scopes = [f"s{number}" for number in range(10_000)]
        selector = {"matchExpressions": [{"scopeName": scope, "operator": "x"} for scope in scopes]}
        for spec in ({"scopes": scopes}, {"scopeSelector": selector}):
            wrong = named("wrong", spec={"hard": {"pods": "1"}, **spec})
            with hostile.patiently():
                status, answer = quickly(lambda w=wrong: hostile.ask("POST", "/api/v1/namespaces/a/resourcequotas", w))

            assert status == 422
            assert len(json.dumps(answer)) < 4_000_000

    @pytest.mark.parametrize(
        "term", [{}, {"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}], ids=["empty", "equal"]
    )
    def test_pairs_of_equal_terms_are_told_as_items_are(self, hostile, term):
        wrong = named("equal", provisioner="a", allowedTopologies=[term] * 4_000)
        with hostile.patiently():
            status, answer = quickly(lambda: hostile.ask("POST", "/apis/storage.k8s.io/v1/storageclasses", wrong))

        assert status == 422
        assert len(answer["details"]["causes"]) == 1000

    def test_a_request_of_many_usages_costs_what_it_weighs(self, hostile):
        spec = {"request": "", "signerName": "a.b/c", "usages": ["client auth"] * 50_000}

        assert quickly(lambda: hostile.ask("POST", CSRS, named("many", spec=spec)))[0] == 422

    def test_files_of_a_volume_that_overlap_are_told_of_up_to_a_hundred(self, hostile):
        items = [{"key": "k", "path": f"a/{number % 7}"} for number in range(4_000)]
        volumes = [{"name": "v", "configMap": {"name": "c", "items": items}}]
        pod = named("overlap", spec={"containers": [{"name": "c", "image": "i"}], "volumes": volumes})

        with hostile.patiently():
            assert quickly(lambda: hostile.ask("POST", "/api/v1/namespaces/a/pods", pod))[0] in {201, 403}

    def test_a_patch_may_have_unknown_members_too(self, hostile):
        body = [{"op": "test", "path": "/data/k", "value": "v", **{f"x{n}": 1 for n in range(100)}}] * 500

        assert (
            quickly(lambda: hostile.ask("PATCH", f"{MAPS}/target?fieldValidation=Strict", body, JSON_PATCH))[0] == 422
        )


class TestNumbers:
    @pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "1" + "0" * 400, "9" * 400_000])
    @pytest.mark.parametrize("member", ["generation", "deletionGracePeriodSeconds", "name", "unknown"])
    def test_integers_of_any_length_are_refused_or_dropped(self, hostile, number, member):
        body = f'{{"metadata":{{"generateName":"m-","{member}":{number}}}}}'.encode()

        assert hostile.ask("POST", MAPS, body)[0] == (201 if member == "unknown" else 400)

    @pytest.mark.parametrize(
        ("method", "path", "body", "expected"),
        [
            ("GET", f"{MAPS}?labelSelector=a>{LONG}", None, 400),
            ("POST", DEPLOYMENTS, {"spec": workload(strategy={"rollingUpdate": {"maxSurge": f"{LONG}%"}})}, 201),
            ("POST", DEPLOYMENTS, {"spec": workload(strategy={"rollingUpdate": {"maxUnavailable": f"{LONG}%"}})}, 422),
            ("POST", DAEMONS, {"metadata": {"annotations": {GENERATION: LONG}}, "spec": workload()}, 201),
            ("POST", DEFINITIONS, column(f".spec[{LONG}]"), 201),
        ],
        ids=["selector", "surge", "share", "generation", "column"],
    )
    def test_numbers_in_texts_are_of_64_bits(self, hostile, method, path, body, expected):
        body = body and {**body, "metadata": {"name": f"long-{expected}", **body.get("metadata", {})}}

        status, answer = hostile.ask(method, path, body)

        assert status == expected, str(answer)[-300:]

    @pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "0" + "7" * 5000, "0b" + "1" * 5000, "1e999"])
    def test_yaml_takes_what_no_number_holds_for_text(self, hostile, number):
        status, answer = hostile.ask(
            "POST", MAPS, b"metadata: {generateName: m-}\ndata: {k: %s}\n" % number.encode(), YAML
        )

        assert (status, answer.get("data")) == (201, {"k": number})

    @pytest.mark.parametrize("text", ["9" * 5000, "0." + "1" * 5000, "1e" + "9" * 5000, "9" * 5000 + "Ki", "1e-99999"])
    def test_quantities_of_any_length_are_refused(self, hostile, text):
        quota = named("q", spec={"hard": {"pods": text}})

        assert hostile.ask("POST", "/api/v1/namespaces/a/resourcequotas", quota)[0] in {400, 422}

    def test_quantities_of_any_size_are_added_up(self, hostile):
        request_ = {"requests": {"cpu": "1e9999"}}
        containers = [{"name": f"c{n}", "image": "i", "resources": request_} for n in range(2)]
        pod = named(
            "huge",
            spec={"containers": [*containers, {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        )

        assert hostile.ask("POST", "/api/v1/namespaces/a/pods", pod)[0] < 500


class TestYaml:
    @pytest.mark.parametrize(
        "body",
        [
            b"a: &a {" + b",".join(b"k%d: 1" % n for n in range(3000)) + b"}\n" + b"".join(
                b"m%d: {<<: *a}\n" % n for n in range(3000)),
            b"a0: &a0 {x: 1}\n" + b"".join(b"a%d: &a%d {<<: *a%d, k%d: 1}\n" % (n, n, n - 1, n) for n in range(1, 3000)),
            b"a0: &a0 [1,1,1,1,1,1,1,1]\n" + b"".join(
                b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 8)) for n in range(1, 30)),
            b"a0: &a0 [1,1]\n" + b"".join(b"a%d: &a%d [*a%d,*a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 60))
            + b"? [*a59]\n: 1\n",
            b"a0: &a0 [1,1]\n" + b"".join(b"a%d: &a%d [*a%d,*a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 60))
            + b"~: *a59\n",
            b"a: &a [*a]\n",
            b"a: {<<: 1}\n",
            b"a: {<<: [{}, 1]}\n",
        ],
        ids=["merged often", "merged in a chain", "aliases of aliases", "as a key", "below null", "itself", "no map",
             "no maps"],
    )  # fmt: skip
    def test_what_aliases_would_make_is_bounded(self, hostile, body):
        with hostile.patiently():
            status, answer = quickly(lambda: hostile.ask("POST", MAPS, body, YAML))

        assert status == 400
        assert "yaml: " in answer["message"]

    def test_merges_and_aliases_of_usual_size_are_read(self, hostile):
        body = b"metadata: {generateName: m-}\nx: &x {a: b, c: d}\ndata: {<<: *x, c: e}\n"

        assert hostile.ask("POST", MAPS, body, YAML)[1]["data"] == {"a": "b", "c": "e"}

    @pytest.mark.parametrize(
        "tag", ["binary", "int", "float", "bool", "null", "timestamp", "set", "omap", "merge", "x"]
    )
    @pytest.mark.parametrize("value", ["aaa", "1e999", "''", "[a]", "{a: b}"])
    def test_a_tag_that_does_not_fit_its_value_is_no_crash(self, hostile, tag, value):
        for text in (f"metadata: {{generateName: t-}}\ndata: {{k: !!{tag} {value}}}", f"? !!{tag} {value}\n: 1"):
            assert hostile.ask("POST", MAPS, text.encode(), YAML)[0] < 500


class TestPatches:
    ODD = (5, [], {}, True, ["add"], 1.5)

    @pytest.mark.parametrize("value", ODD)
    @pytest.mark.parametrize("member", ["op", "path", "from"])
    def test_members_of_operations_are_text(self, hostile, member, value):
        operation = {"op": "copy", "path": "/data/k", "from": "/data/k", member: value}
        status, answer = hostile.ask("PATCH", f"{MAPS}/target", [operation], JSON_PATCH)

        assert status == 400
        assert f"Go struct field jsonPatchOp.{member} of type string" in answer["message"]

    @pytest.mark.parametrize("path", ["/data/" + "9" * 5000, "/metadata/finalizers/" + "9" * 5000, "/a" * 300_000, "",
                                      "/metadata/finalizers/-1", "~", "/~2", "/-"])  # fmt: skip
    @pytest.mark.parametrize("op", ["add", "remove", "replace", "test", "move", "copy", "no"])
    def test_any_path_is_answered(self, hostile, op, path):
        body = [{"op": "add", "path": "/metadata/finalizers", "value": ["a/b"]},
                {"op": op, "path": path, "from": path, "value": 1}]  # fmt: skip
        status, _ = quickly(lambda: hostile.ask("PATCH", f"{MAPS}/target?dryRun=All", body, JSON_PATCH))

        assert status in {200, 400, 422}

    def test_moves_make_no_object_deeper_than_is_written(self, hostile):
        steps = [({"op": "add", "path": f"/x{n + 1}", "value": {}},
                  {"op": "move", "from": f"/x{n}", "path": f"/x{n + 1}/x"}) for n in range(300)]  # fmt: skip
        body = [{"op": "add", "path": "/x0", "value": {}}, *(step for pair in steps for step in pair)]

        assert hostile.ask("PATCH", f"{MAPS}/target", body, JSON_PATCH)[0] == 422

    def test_nor_is_a_deeper_one_copied(self, hostile):
        steps = [({"op": "add", "path": f"/x{n + 1}", "value": {}},
                  {"op": "move", "from": f"/x{n}", "path": f"/x{n + 1}/x"}) for n in range(4990)]  # fmt: skip
        for depth in (300, 4990):
            body = [{"op": "add", "path": "/x0", "value": {}}, *(step for pair in steps[:depth] for step in pair)]
            copy = {"op": "copy", "from": f"/x{depth}", "path": "/y"}

            assert hostile.ask("PATCH", f"{MAPS}/target", [*body, copy], JSON_PATCH)[0] == 422

    def test_copies_of_copies_are_bounded(self, hostile):
        body = [
            {"op": "add", "path": "/x", "value": ["a" * 1000]},
            *[{"op": "copy", "from": "/x", "path": "/x/-"}] * 60,
        ]
        with hostile.patiently():
            status, _ = quickly(lambda: hostile.ask("PATCH", f"{MAPS}/target", body, JSON_PATCH))

        assert status == 422

    @pytest.mark.parametrize("step", [{"op": "add", "path": "/x/0", "value": 1}, {"op": "remove", "path": "/x/0"},
                                      {"op": "move", "from": "/x/0", "path": "/x/-"},
                                      {"op": "copy", "from": "/x/0", "path": "/x/0"}])  # fmt: skip
    def test_a_long_list_is_not_shifted_again_and_again(self, hostile, step):
        body = [{"op": "add", "path": "/x", "value": [1] * 1_000_000}, *[step] * 9000]
        text = json.dumps(body, separators=(",", ":")).encode()
        with hostile.patiently():
            status, answer = quickly(lambda: hostile.ask("PATCH", f"{MAPS}/target", text, JSON_PATCH))

        assert (status, answer["reason"]) == (413, "RequestEntityTooLarge")

    @pytest.mark.parametrize("key", [{"a": 1}, ["x"], True, 1, 1.5, ""])
    def test_a_merge_key_of_any_type_is_answered(self, hostile, key):
        hostile.ask("POST", DEPLOYMENTS, deployment("keys", 1))
        body = {"spec": {"template": {"spec": {"containers": [{"name": key}, {"name": key, "$patch": "delete"}]}}}}

        assert hostile.ask("PATCH", f"{DEPLOYMENTS}/keys", body, STRATEGIC)[0] in {200, 400, 422}

    def test_thousands_of_items_are_merged_one_by_one(self, hostile):
        count = 2000
        hostile.ask("POST", DEPLOYMENTS, deployment("many", count))
        containers = [{"name": f"c{n}", "image": "j"} for n in range(count)]
        order = [{"name": f"c{n}"} for n in reversed(range(count))]
        gone = [{"name": f"c{n}", "$patch": "delete"} for n in range(1, count)]
        for change in (
            {"containers": containers},
            {"containers": containers[::-1], "$setElementOrder/containers": order},
            {"containers": gone},
        ):
            body = {"spec": {"template": {"spec": change}}}
            with hostile.patiently():
                status, answer = quickly(lambda body=body: hostile.ask("PATCH", f"{DEPLOYMENTS}/many", body, STRATEGIC))
            assert status == 200

        assert [one["name"] for one in answer["spec"]["template"]["spec"]["containers"]] == ["c0"]

    def test_retained_keys_may_be_many(self, hostile):
        hostile.ask("POST", DEPLOYMENTS, deployment("kept", 1))
        keys = [f"k{n}" for n in range(30_000)]
        body = {"spec": {"strategy": {"$retainKeys": [*keys, 1, [], None], **dict.fromkeys(keys, 1)}}}

        assert quickly(lambda: hostile.ask("PATCH", f"{DEPLOYMENTS}/kept?fieldValidation=Ignore", body, STRATEGIC))[
            0
        ] in {200, 400, 422}

    def test_one_item_is_not_merged_again_and_again_without_end(self, hostile):
        hostile.ask("POST", DEPLOYMENTS, deployment("again", 1))
        change = [{"name": "c0", "env": [{"name": f"e{number}", "value": "x"}]} for number in range(1500)]
        body = {"spec": {"template": {"spec": {"containers": change}}}}

        status, answer = quickly(lambda: hostile.ask("PATCH", f"{DEPLOYMENTS}/again", body, STRATEGIC))

        assert (status, answer["reason"]) == (413, "RequestEntityTooLarge")

    @pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1e20", "-1e20"])
    def test_a_number_beyond_64_bits_is_one_or_is_refused(self, hostile, number):
        definition = column(".spec")
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["properties"] = {"spec": {"type": "number", "maximum": "LIMIT"}}
        text = json.dumps(definition).replace('"LIMIT"', number).replace("longs", "bigs").encode()

        for kind in ("application/json", YAML):
            assert hostile.ask("POST", f"{DEFINITIONS}?dryRun=All", text, kind)[0] == 201


def deployment(name, count):
    containers = [{"name": f"c{n}", "image": "i"} for n in range(count)]
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}}
    return named(name, spec={"selector": {"matchLabels": {"a": "b"}}, "template": template})
