"""The kubelet's ports without authentication."""

import pytest
from hyperkube_host.kubelet.server.open_ports import OPEN_PATHS, cadvisor_port, health_port, read_only_port
from hyperkube_lib.serving.exchange import HttpRequest, Response


class Pages:
    """Stands for the kubelet's API."""

    def page(self, path):
        return Response(body=path.encode())


def ask(handler, path, method="GET", query=""):
    return handler.handle(HttpRequest(method=method, path=path, query_string=query))


def test_health_is_named_check_by_check():
    answer = ask(health_port(lambda: ""), "/healthz", query="verbose")

    assert answer.body.decode().splitlines() == ["[+]ping ok", "[+]log ok", "[+]syncloop ok", "healthz check passed"]


def test_a_kubelet_that_is_stuck_is_not_healthy():
    handler = health_port(lambda: "containers were last looked at 200 s ago")

    assert ask(handler, "/healthz").status == 500
    assert ask(handler, "/healthz/ping").status == 200


@pytest.mark.parametrize("path", ["/metrics", "/pods", "/configz"])
def test_the_health_port_has_nothing_else(path):
    assert ask(health_port(lambda: ""), path).status == 404


@pytest.mark.parametrize("path", sorted(OPEN_PATHS))
def test_the_read_only_port_shows_pods_and_usage(path):
    assert ask(read_only_port(Pages()), path).body == path.encode()


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/configz"), ("GET", "/runningpods"), ("POST", "/pods"), ("POST", "/run/d/p/c"), ("GET", "/logs/")],
)
def test_it_does_nothing_and_tells_no_secrets(method, path):
    assert ask(read_only_port(Pages()), path, method).status == 404


def test_cadvisors_port_has_the_containers_metrics_and_nothing_else():
    port = cadvisor_port(Pages())

    assert ask(port, "/metrics").body == b"/metrics/cadvisor"
    assert [ask(port, path).status for path in ("/pods", "/metrics/cadvisor", "/")] == [404, 404, 404]
    assert ask(port, "/metrics", "POST").status == 404
