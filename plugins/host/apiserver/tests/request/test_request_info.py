import pytest
from hyperkube_host.apiserver.request.request_info import KnownPaths, flag, parse, watch_flag
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.known_heads import Target

from hyperkube.machinery.users import UserInfo


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/namespaces/a/pods", ("list", "", "v1", "a", "pods", "", "")),
        ("GET", "/api/v1/namespaces/a/pods/p", ("get", "", "v1", "a", "pods", "p", "")),
        ("GET", "/api/v1/namespaces/a/pods/p/log", ("get", "", "v1", "a", "pods", "p", "log")),
        ("POST", "/apis/apps/v1/namespaces/a/deployments", ("create", "apps", "v1", "a", "deployments", "", "")),
        ("DELETE", "/apis/apps/v1/deployments", ("deletecollection", "apps", "v1", "", "deployments", "", "")),
        ("GET", "/api/v1/namespaces/a", ("get", "", "v1", "a", "namespaces", "a", "")),
        ("PUT", "/api/v1/namespaces/a/finalize", ("update", "", "v1", "a", "namespaces", "a", "finalize")),
        ("GET", "/api/v1/watch/namespaces/a/pods", ("watch", "", "v1", "a", "pods", "", "")),
        ("FOO", "/api/v1/nodes", ("", "", "v1", "", "nodes", "", "")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_resource_request_is_read_off_its_path(method, path, expected):
    info = parse(method, path, {})

    assert info.is_resource
    assert (
        info.verb,
        info.group,
        info.version,
        info.namespace,
        info.resource,
        info.name,
        info.subresource,
    ) == expected


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps/v1", "/healthz", "/version"])
def test_what_is_no_resource_has_the_method_as_its_verb(path):
    info = parse("GET", path, {})

    assert not info.is_resource
    assert info.verb == "get"


def test_a_watch_parameter_makes_a_list_a_watch():
    assert parse("GET", "/api/v1/pods", {"watch": ["1"]}).verb == "watch"
    assert parse("GET", "/api/v1/pods", {"watch": ["false"]}).verb == "list"


@pytest.mark.parametrize(
    ("query", "watched"),
    [
        ("watch=1&fieldSelector=spec.nodeName%3Dn", ["1"]),
        ("limit=5&w%61tch=tr%75e&watch=false", ["true"]),
        ("watch", [""]),
        ("fieldSelector=metadata.name%3Dwatch&rewatch=1&watch+=1", []),
        ("fieldSelector=metadata.name%3Dn", []),
    ],
)
def test_whether_a_query_watches_is_read_without_the_rest(query, watched):
    assert watch_flag(query).get("watch", []) == watched


def test_a_field_selector_on_the_name_lets_a_list_be_allowed_by_name():
    info = parse("GET", "/api/v1/pods", {"fieldSelector": ["metadata.name=p"]})

    assert (info.verb, info.name) == ("list", "p")


def test_a_flag_without_a_value_is_set():
    assert flag({"follow": [""]}, "follow")
    assert not flag({}, "follow")


@pytest.mark.parametrize(
    ("method", "fields", "labels", "name"),
    [
        ("GET", "metadata.name=p,spec.nodeName=n", "app=a", "p"),
        ("DELETE", "metadata.name=p,spec.nodeName=n", "app=a", ""),
    ],
)
def test_what_narrows_a_request_is_known_to_authorizers(method, fields, labels, name):
    query = {"fieldSelector": [fields], "labelSelector": [labels]}

    asked = parse(method, "/api/v1/pods", query).attributes(UserInfo("u"))

    assert [str(one) for one in asked.field_selector] == fields.split(",")
    assert [str(one) for one in asked.label_selector] == [labels]
    assert asked.name == name


@pytest.mark.parametrize("query", [{"fieldSelector": ["a"]}, {"labelSelector": ["a in"]}, {"fieldSelector": [""]}])
def test_what_is_no_selector_narrows_nothing(query):
    asked = parse("GET", "/api/v1/pods", query).attributes(UserInfo("u"))

    assert (asked.field_selector, asked.label_selector) == ((), ())


def test_a_single_object_is_not_narrowed():
    info = parse("GET", "/api/v1/namespaces/a/pods/p", {"fieldSelector": ["a=b"]})

    assert info.field_selector == ()


def test_a_path_that_was_forgotten_is_read_again():
    paths = KnownPaths()
    paths.read(HttpRequest(method="GET", path="/api/v1/pods"))
    first = paths.read(HttpRequest(method="GET", path="/api/v1/pods"))
    again = paths.read(HttpRequest(method="GET", path="/api/v1/pods"))

    paths.forget()

    anew = paths.read(HttpRequest(method="GET", path="/api/v1/pods"))
    assert first is again is not anew == first


@pytest.mark.parametrize(("query", "kept"), [("", 0), ("limit=20", 1)])
def test_what_is_read_off_a_line_that_is_remembered_is_not_kept_twice(query, kept):
    paths, path = KnownPaths(), "/api/v1/namespaces/a/pods"

    found = [paths.read(HttpRequest(method="GET", path=path, line=Target("GET", path, path, query))) for _ in range(3)]

    assert found[0] == found[1] == found[2]
    assert len(paths._known) == kept


def test_what_was_read_off_a_line_is_there_with_the_line():
    path = "/api/v1/namespaces/a/pods"
    paths, line = KnownPaths(), Target("GET", path, path, "")

    first, again = (paths.read(HttpRequest(method="GET", path=path, line=line)) for _ in range(2))

    assert first is again is line.read


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/a",
        "/api/v1/namespaces/a/status",
        "/api/v1/namespaces/a/pods/b",
        "/api/v1/namespaces/a/pods/b/status",
        "/api/v1/watch/namespaces/a/pods/b",
        "/api/v1/nodes/b/proxy/c",
        "/apis/coordination.k8s.io/v1/namespaces/a/leases/b",
    ],
)
def test_a_query_says_nothing_more_of_what_has_a_name(method, path):
    query = {"timeout": ["10s"], "watch": ["1"], "fieldSelector": ["metadata.name=c"], "labelSelector": ["a=b"]}

    assert parse(method, path, {}).name
    assert words(parse(method, path, {})) == words(parse(method, path, query))


def words(info):
    names = ("verb", "prefix", "group", "version", "namespace", "in_namespace", "resource", "name", "subresource")
    more = ("parts", "special", "is_resource", "path", "field_selector", "label_selector")
    return [getattr(info, name) for name in names + more]
