"""The listener's handler: sign-in, cookies, files, streams; without a socket."""

import base64
from pathlib import Path

import pytest
from hyperkube_lib.console.server import Console, cookie_of
from hyperkube_lib.console.upstream import Upstream
from hyperkube_lib.serving.exchange import HttpRequest, RelayUpgrade

from hyperkube.client.kubeconfig import Access
from hyperkube.machinery.clock import FakeClock

SERVER = {"server": "https://127.0.0.1:6443", "insecure-skip-tls-verify": True}


@pytest.fixture
def console():
    urls = []
    built = Console(lambda: Access(SERVER, {"token": "owner"}, "default"), FakeClock(), port=8001, changed=urls.append)
    built.urls = urls
    yield built
    built.close()


def ask(console, path, query="", **headers):
    headers = {"host": "127.0.0.1:8001", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return console.handle(HttpRequest(method="GET", path=path, query_string=query, headers=headers))


def header(answer, name):
    return dict(answer.headers).get(name)


def signed_in(console):
    answer = ask(console, "/sign-in", f"token={console.sessions.one_time_token}")
    return header(answer, "Set-Cookie").partition(";")[0]


def test_the_link_signs_in_once_and_the_next_one_is_told(console):
    first = console.url

    answer = ask(console, "/sign-in", first.partition("?")[2])
    again = ask(console, "/sign-in", first.partition("?")[2])

    assert (answer.status, header(answer, "Location")) == (303, "/welcome")
    assert "HttpOnly; SameSite=Strict" in header(answer, "Set-Cookie")
    assert header(again, "Location") == "/sign-in?used=1"
    assert header(again, "Set-Cookie") is None
    assert console.urls == [console.url]
    assert console.url != first


def test_two_clusters_have_cookies_of_their_own(console):
    assert console.cookie_name() == "hyperkube-console-8001"


def test_streams_go_to_the_api_server_as_the_user(console):
    cookie = signed_in(console)

    answer = ask(console, "/k8s/api/v1/pods", "watch=1", cookie=cookie)

    assert isinstance(answer, RelayUpgrade)
    assert (answer.host, answer.port, answer.path) == ("127.0.0.1", 6443, "/api/v1/pods?watch=1")
    assert ("Authorization", "Bearer owner") in answer.headers
    assert "cookie" in answer.withheld
    passed = answer.answered([("Content-Type", "text/html"), ("X-Frame-Options", "ALLOWALL")])
    assert dict(passed.headers)["X-Frame-Options"] == "DENY"
    assert dict(passed.headers)["X-Content-Type-Options"] == "nosniff"


def test_streams_are_for_those_who_have_signed_in(console):
    assert ask(console, "/k8s/api/v1/pods", "watch=1").status == 401
    assert ask(console, "/k8s/api/v1/pods", "watch=1", cookie=f"{console.cookie_name()}=guessed").status == 401


def test_files_are_its_own_only(console):
    found = ask(console, "/static/console.css")

    assert (found.status, header(found, "Content-Type")) == (200, "text/css; charset=utf-8")
    assert ask(console, "/static/console.css", if_none_match=header(found, "ETag")).status == 304
    assert ask(console, "/static/../server.py").status == 404
    for name in ("nothing.js", "a" * 300, "a\0.js", "", ".", "console.css/", "\udcff.js"):
        assert ask(console, f"/static/{name}").status == 404


def test_every_answer_has_the_security_headers(console):
    answers = [ask(console, path) for path in ("/sign-in", "/static/console.js", "/", "/k8s/api")]
    answers.append(ask(console, "/", host="evil.example"))

    for answer in answers:
        assert "default-src 'none'" in header(answer, "Content-Security-Policy")


def test_a_cookie_is_found_among_others():
    assert cookie_of("a=1; hyperkube=x-y_z; b=2", "hyperkube") == "x-y_z"
    assert cookie_of("", "hyperkube") == ""
    assert cookie_of("a=1", "hyperkube") == ""


def test_a_users_certificate_is_kept_in_files_of_its_own(tmp_path):
    keys = {f"client-{part}-data": base64.b64encode(part.encode()).decode() for part in ("certificate", "key")}
    upstream = Upstream(Access({"server": "http://127.0.0.1:1"}, keys, ""), tmp_path, FakeClock())

    owner = upstream.owner()

    assert Path(owner.certificate_file).read_text() == "certificate"
    assert oct((tmp_path / "client.key").stat().st_mode)[-3:] == "600"
    assert owner.relay("/x", []).certificate_file == owner.certificate_file


def test_a_token_acts_without_the_owners_certificate(tmp_path):
    access = Access(SERVER, {"client-certificate": "owner.crt", "client-key": "owner.key"}, "")

    user = Upstream(access, tmp_path, FakeClock()).bearer("ada")

    relay = user.relay("/x", [])
    assert relay.certificate_file == ""
    assert ("Authorization", "Bearer ada") in relay.headers
    assert user.config()["users"] == [{"name": "console", "user": {"token": "ada"}}]
