"""Values of every type cost what they weigh: times, schedules, schemas, certificates, rules, Accept headers."""

import json
import sys
from base64 import b64encode
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import ADMIN, Hostile, World, quickly, request

from hyperkube.testing.waiting import eventually

MAPS = "/api/v1/namespaces/a/configmaps"
CRONS = "/apis/batch/v1/namespaces/a/cronjobs"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/a/leases"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("bodies"))
    hostile = Hostile(world)
    hostile.ask("POST", MAPS, {"metadata": {"name": "target"}, "data": {"k": "v"}})
    yield hostile
    world.close()


def named(name, **more):
    return {"metadata": {"name": name}, **more}


class TestValues:
    @pytest.mark.parametrize(
        "zone", ["+99:99", "+24:00", "+23:60", "+0000", "+" + "9" * 5000, "Z" * 5000, "+00:00" * 900]
    )
    def test_offsets_no_clock_has_are_refused(self, hostile, zone):
        assert (
            hostile.ask("POST", LEASES, named("l", spec={"renewTime": f"2026-01-02T03:04:05.000006{zone}"}))[0] == 400
        )

    @pytest.mark.parametrize(
        "zone", ["a" * 5000, "a/" * 3000, "a\0b", "../../etc/passwd", "/etc/passwd", "Europe", "\ud7ff"]
    )
    def test_time_zones_that_are_none_are_refused(self, hostile, zone):
        for spec in ({"schedule": "* * * * *", "timeZone": zone}, {"schedule": f"TZ={zone} * * * * *"},
                     {"schedule": f"CRON_TZ={zone} * * * * *"}):  # fmt: skip
            assert hostile.ask("POST", CRONS, named("c", spec={**spec, **jobs()}))[0] == 422

    @pytest.mark.parametrize(
        "field", ["9" * 5000, "0-" + "9" * 5000, "*/" + "9" * 5000, "1," * 30_000, "0-59/1-" * 5000]
    )
    def test_schedules_that_are_none_are_refused(self, hostile, field):
        body = named("c", spec={"schedule": f"{field} * * * *", **jobs()})

        assert quickly(lambda: hostile.ask("POST", CRONS, body))[0] == 422

    @pytest.mark.parametrize("version", ["9" * 5000, "x", "-1", "1.5", "\u00b2", "\u0661", "0x1", " 1", ""])
    def test_a_resource_version_that_is_none_is_the_clients_fault(self, hostile, version):
        from urllib.parse import quote

        text = quote(version)
        asked = [
            ("GET", f"{MAPS}?resourceVersion={text}", None),
            ("GET", f"{MAPS}?limit=1&resourceVersionMatch=Exact&resourceVersion={text}", None),
            ("PUT", f"{MAPS}/target", named("target") | {"metadata": {"name": "target", "resourceVersion": version}}),
            ("PATCH", f"{MAPS}/target", {"metadata": {"resourceVersion": version}}),
            ("DELETE", f"{MAPS}/none", {"preconditions": {"resourceVersion": version}}),
            ("DELETE", f"{MAPS}/target?dryRun=All", {"preconditions": {"resourceVersion": version}}),
        ]
        for method, path, body in asked:
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            assert hostile.ask(method, path, body, kind)[0] < 500, (method, path[:80])

    @pytest.mark.parametrize("depth", [300, 3000, 30_000])
    def test_a_schema_may_be_deep_in_protobuf_too(self, hostile, depth):
        schema = b""
        for _ in range(depth):
            schema = delimited(25, schema)  # not
        version = delimited(1, b"v1") + b"\x10\x01\x18\x01" + delimited(4, delimited(1, schema))
        names = delimited(1, b"deeps") + delimited(4, b"Deep")
        spec = delimited(1, b"x.io") + delimited(3, names) + delimited(4, b"Namespaced") + delimited(7, version)
        raw = delimited(1, delimited(1, b"deeps.x.io")) + delimited(2, spec)
        kind = delimited(1, b"apiextensions.k8s.io/v1") + delimited(2, b"CustomResourceDefinition")
        body = b"k8s\0" + delimited(1, kind) + delimited(2, raw)
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        with hostile.patiently():
            status, _ = hostile.ask("POST", path, body, "application/vnd.kubernetes.protobuf")

        assert status in {400, 422}


def jobs():
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    return {"jobTemplate": {"spec": {"template": {"spec": pod}}}}


def delimited(number, value):
    """Return a protobuf field of bytes."""

    def varint(rest):
        return bytes([rest]) if rest < 128 else bytes([rest & 127 | 128]) + varint(rest >> 7)

    return varint(number << 3 | 2) + varint(len(value)) + value


class TestCertificates:
    @pytest.mark.parametrize(
        "line", ["-----BEGIN A-----\n", "-----BEGIN CERTIFICATE-----\n", "-----BEGIN CERTIFICATE REQUEST-----\n"]
    )
    def test_blocks_without_an_end_are_read_once(self, hostile, line):
        text = b64encode((line * 20_000).encode()).decode()
        pair = named("pair", type="kubernetes.io/tls", data={"tls.crt": text, "tls.key": "eA=="})
        spec = {"request": text, "signerName": "a.b/c", "usages": ["client auth"]}
        with hostile.patiently():
            made = quickly(lambda: hostile.ask("POST", "/api/v1/namespaces/a/secrets?dryRun=All", pair))
            asked = quickly(lambda: hostile.ask("POST", CSRS, named("halves", spec=spec)))

        assert (made[0], asked[0]) == (201, 422)


class TestRules:
    def test_a_role_of_a_million_rules_is_refused_at_once(self, hostile):
        values = [f"x{n}" for n in range(100)]
        cube = {"apiGroups": values, "resources": values, "verbs": values}
        headers = {"Impersonate-User": "rolemaker"}
        with hostile.patiently():
            status, answer = quickly(
                lambda: hostile.ask("POST", f"{RBAC}/clusterroles", named("cube", rules=[cube] * 3), **headers)
            )

        assert status == 403
        assert len(json.dumps(answer)) < 500_000

    def test_what_one_may_oneself_is_told_as_it_is_written(self, hostile):
        values = [f"x{n}" for n in range(100)]
        hostile.ask(
            "POST",
            f"{RBAC}/clusterroles",
            named("cube", rules=[{"apiGroups": values, "resources": values, "verbs": values}]),
        )
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cube"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}
        hostile.ask("POST", f"{RBAC}/clusterrolebindings", named("cube", roleRef=reference, subjects=[subject]))
        review = {"spec": {"namespace": "a"}}
        reviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"

        def told():
            status, answer = quickly(lambda: hostile.ask("POST", reviews, review, **{"Impersonate-User": "reader"}))
            assert status == 201
            return answer["status"]["resourceRules"]

        assert eventually(lambda: any(len(rule["verbs"]) == 100 for rule in told()))


class TestAcceptHeaders:
    @pytest.mark.parametrize(
        "accept",
        ["a/b;q=0.1," * 60_000, ";" * 900_000, "a;" * 400_000, "," * 900_000, "application/json;as=Table;" * 30_000],
        ids=["clauses", "semicolons", "parameters", "commas", "tables"],
    )
    @pytest.mark.parametrize("path", [MAPS, f"{MAPS}/target", "/apis", "/readyz"])
    def test_one_of_any_length_is_read_in_no_time(self, hostile, accept, path):
        with hostile.patiently():
            head = request(
                "GET",
                path,
                b"Accept: " + accept.encode(),
                credentials=ADMIN.replace(b"Accept: application/json\r\n", b""),
            )
            status, _ = quickly(lambda: hostile.send(head))

        assert status in {200, 406}
