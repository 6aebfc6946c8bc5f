"""What comes before a credential is bounded: heads, trailers, queries, versions. It costs little and means nothing more."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import ADMIN, HEAD, Hostile, World, request

from hyperkube.testing.waiting import eventually

MAPS = "/api/v1/namespaces/a/configmaps"
REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
CHUNKED = b"Transfer-Encoding: chunked"
MIB = 1 << 20


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("heads"))
    yield Hostile(world)
    world.close()


def chunked(body, *trailers, credentials=HEAD, path=REVIEW):
    head = request("POST", path, CHUNKED, b"Content-Type: application/json", credentials=credentials)
    chunks = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    return head + chunks + b"".join(line + b"\r\n" for line in trailers) + b"\r\n"


class TestTrailers:
    @pytest.mark.parametrize(
        "trailer",
        [
            b"Authorization: Bearer token-admin",
            b"authorization: bearer token-admin",
            b"Authorization:Bearer token-admin",
        ],
    )
    def test_they_bring_no_credentials(self, hostile, trailer):
        assert hostile.send(chunked(b"{}", trailer))[0] == hostile.send(chunked(b"{}"))[0] == 403

    def test_they_impersonate_no_one(self, hostile):
        status, body = hostile.send(chunked(b"{}", b"Impersonate-User: somebody", credentials=ADMIN))

        assert status == 201
        assert b'"username":"admin"' in body

    @pytest.mark.parametrize("name", [b"X-Remote-Group", b"X-Remote-User", b"Accept", b"User-Agent", b"Content-Type"])
    def test_they_change_no_header(self, hostile, name):
        status, body = hostile.send(chunked(b"{}", name + b": system:masters", credentials=ADMIN))

        assert status == 201
        assert b'"username":"admin"' in body
        assert body.startswith(b'{"kind":"SelfSubjectReview"')

    def test_a_few_are_read_and_dropped(self, hostile):
        assert hostile.send(chunked(b"{}", *[b"Checksum: 1"] * 100, credentials=ADMIN))[0] == 201

    @pytest.mark.parametrize(
        "trailer", [b"a: b\r\n" * 300_000, b"a: " + b"b" * 2 * MIB, b"a" * 2 * MIB], ids=["many", "long", "long name"]
    )
    def test_more_than_fit_are_refused(self, hostile, trailer):
        with hostile.patiently():
            status, _ = hostile.send(chunked(b"{}", trailer))

        assert status in {400, 0}

    @pytest.mark.parametrize("credentials", [HEAD, ADMIN], ids=["nobody", "admin"])
    def test_a_body_is_not_mostly_chunk_headers(self, hostile, credentials):
        head = request("POST", REVIEW, CHUNKED, b"Content-Type: application/json", credentials=credentials)

        assert hostile.send(head + b"1;" + b"x" * MIB)[0] in {400, 0}
        assert hostile.send(head + b"1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n \r\n" * 20_000)[0] in {400, 0}

    def test_a_body_in_single_bytes_is_read(self, hostile):
        head = request("POST", REVIEW, CHUNKED, b"Content-Type: application/json", credentials=ADMIN)

        assert hostile.send(head + b"1\r\n \r\n" * 20_000 + b"2\r\n{}\r\n0\r\n\r\n")[0] == 201


class TestHeads:
    @pytest.mark.parametrize(
        "lines",
        [b"a: b\r\n" * 170_000, b"".join(b"h%d: b\r\n" % n for n in range(80_000)), b"Cookie: a\r\n" * 90_000],
        ids=["one repeated", "all different", "cookies"],
    )
    def test_many_fields_are_refused(self, hostile, lines):
        with hostile.patiently():
            status, _ = hostile.send(b"GET /readyz HTTP/1.1\r\n" + HEAD + lines + b"\r\n")

        assert status == 431

    def test_thousands_of_fields_are_joined(self, hostile):
        groups = [b"Impersonate-Group: g%d" % number for number in range(5000)]
        with hostile.patiently():
            status, body = hostile.send(
                request("POST", REVIEW, b"Impersonate-User: u", b"Content-Type: application/json", *groups,
                        credentials=ADMIN, body=b"{}")
            )  # fmt: skip

        assert status == 201
        assert b'"g4999"' in body

    @pytest.mark.parametrize("part", [b"GET /" + b"x" * 2 * MIB, b"GET / HTTP/1.1\r\nA: " + b"x" * 2 * MIB])
    def test_more_than_a_mebibyte_is_refused(self, hostile, part):
        with hostile.patiently():
            assert hostile.send(part)[0] in {431, 0}

    @pytest.mark.parametrize("line", [b"GET /readyz", b"GET /readyz HTTP/0.9", b"GET /readyz HTTP/2.0", b"GET /readyz HTTP/3.0",
                                      b"GET /readyz HTTP/1.10", b"GET /readyz http/1.1"])  # fmt: skip
    def test_other_versions_are_refused(self, hostile, line):
        assert hostile.send(line + b"\r\n" + HEAD + b"\r\n")[0] in {400, 505}

    @pytest.mark.parametrize("version", [b"1.0", b"1.1"])
    def test_http_1_is_answered(self, hostile, version):
        assert hostile.send(b"GET /readyz HTTP/" + version + b"\r\n" + HEAD + b"\r\n") == (200, b"ok")

    @pytest.mark.parametrize("coding", [b"gzip, chunked", b"gzip", b"identity", b"chunked, chunked", b"xchunked"])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_a_body_in_another_coding_is_refused_at_once(self, hostile, method, coding):
        assert hostile.send(request(method, "/readyz", b"Transfer-Encoding: " + coding))[0] in {400, 501}

    @pytest.mark.parametrize(
        "hosts", [b"", b"Host: x\r\nHost: y\r\n", b"Host: x\r\nhost: x\r\n"], ids=["none", "two", "same"]
    )
    def test_a_request_names_one_host(self, hostile, hosts):
        assert hostile.send(b"GET /readyz HTTP/1.1\r\n" + hosts + b"\r\n")[0] == 400
        assert hostile.answers(b"GET /readyz HTTP/1.0\r\n\r\n") == [200]

    @pytest.mark.parametrize("method", [b"delete", b"Delete", b"DELETE\t", b"get"])
    def test_a_method_in_small_letters_is_another_method(self, hostile, method):
        hostile.send(method + b" " + MAPS.encode() + b"/m HTTP/1.1\r\n" + ADMIN + b"\r\n")

        assert hostile.ask("GET", f"{MAPS}/m")[0] == 200

    def test_a_method_that_is_unknown_does_not_have_what_came_before_it_done_again(self, hostile):
        made = request("POST", MAPS, b"Content-Type: application/json", credentials=ADMIN,
                       body=b'{"metadata":{"generateName":"once-"}}')  # fmt: skip
        hostile.answers(made + request("BREW", MAPS, credentials=ADMIN))

        def made_once():
            names = [item["metadata"]["name"] for item in hostile.ask("GET", MAPS)[1]["items"]]
            return len([name for name in names if name.startswith("once-")])

        eventually(made_once)  # the connection ends at once, whatever is under way
        assert hostile.answers(request("GET", "/readyz")) == [200]
        assert made_once() == 1


class TestUpgrades:
    H2C = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c")

    def test_offers_that_are_passed_over_may_be_pipelined(self, hostile):
        assert hostile.answers(request("GET", "/readyz", *self.H2C) * 5) == [200] * 5

    def test_thousands_of_them_leave_time_for_others(self, hostile):
        with hostile.patiently():
            hostile.answers(request("GET", "/readyz", *self.H2C) * 1_000)

    def test_a_body_behind_such_an_offer_is_not_taken_for_a_request(self, hostile):
        inner = request("GET", "/healthz/ping")
        answers = hostile.answers(request("POST", REVIEW, *self.H2C, body=inner))

        assert answers == [400]


class TestQueries:
    @pytest.mark.parametrize("timeout", ["9" * 5000 + "s", "0." + "1" * 5000 + "s", "9" * 5000, "1e400s", "-" * 5000])
    def test_a_timeout_that_is_no_duration_is_refused(self, hostile, timeout):
        status, _ = hostile.send(request("GET", f"{MAPS}?timeout={timeout}", credentials=ADMIN))

        assert status == (200 if timeout.startswith("0.1") else 400)

    def test_a_timeout_of_many_parts_takes_no_time(self, hostile):
        with hostile.patiently():
            status, _ = hostile.send(request("GET", f"{MAPS}?timeout={'0s' * 300_000}", credentials=ADMIN))

        assert status == 200

    @pytest.mark.parametrize("selector", ["labelSelector=" + "!a," * 200_000 + "b", "fieldSelector=" + "a=b," * 150_000,
                                          "labelSelector=a+in+(" + "b," * 250_000 + "c)"])  # fmt: skip
    def test_a_selector_is_not_read_for_a_client_without_credentials(self, hostile, selector):
        with hostile.patiently():
            status, _ = hostile.send(request("GET", f"{MAPS}?{selector}"))

        assert status == 403

    @pytest.mark.parametrize("path", [MAPS, "/readyz", "/healthz", "/version"])
    def test_more_parameters_than_go_takes_are_refused(self, hostile, path):
        with hostile.patiently():
            assert hostile.send(request("GET", f"{path}?{'a&' * 400_000}"))[0] == 400

    @pytest.mark.parametrize("name", ["watch", "w%61tch", "%77atch"])
    def test_a_watch_is_one_however_its_name_is_written(self, hostile, name):
        path = f"{MAPS}?{name}=1&timeoutSeconds=1&timeout=1ms"

        assert hostile.answers(request("GET", path, credentials=ADMIN)) == [200]
