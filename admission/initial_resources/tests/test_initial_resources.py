"""InitialResources: which samples are asked for, and what becomes of them; the database is a small HTTP server."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from hyperkube_admission.initial_resources import ANNOTATION, InitialResources

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


class Samples:
    """Answers by (resource, image pattern, namespace, exact) and notes what it was asked."""

    def __init__(self, answers=None):
        self.answers = answers or {}
        self.asked = []

    def percentile(self, resource, percent, image, namespace, start, end, *, exact):
        self.asked.append((resource, percent, image, namespace, (end - start).days, exact))
        return self.answers.get((resource, image, namespace, (end - start).days), (0, 0))


def pod(**container):
    container = {"name": "c", "image": "web:1", **container}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": [container]}}


def rig(answers=None, **options):
    made = AdmissionRig(InitialResources, settings={f"ir_{key}": v for key, v in options.items()})
    made.plugin.source = Samples(answers)
    return made


class TestPromises(AdmissionContract):
    plugin = InitialResources

    def rig(self):
        made = super().rig()
        made.plugin.source = Samples({("cpu", "web:1", "ns", 7): (250, 40)})
        return made

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod())]


def test_what_the_image_used_becomes_the_request():
    world = rig({("cpu", "web:1", "ns", 7): (250, 40), ("memory", "web:1", "ns", 7): (1000, 40)})

    made = world.create(PODS, pod())

    assert made["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "250m", "memory": "1000"}}
    assert made["metadata"]["annotations"] == {
        ANNOTATION: "Initial Resources plugin set: cpu, memory request for container c"
    }


@pytest.mark.parametrize("kind", ["requests", "limits"])
def test_what_is_said_is_kept(kind):
    said = {kind: {"cpu": "1"}}

    made = rig({("cpu", "web:1", "ns", 7): (250, 40)}).create(PODS, pod(resources=said))

    assert made["spec"]["containers"][0]["resources"] == said
    assert "annotations" not in made["metadata"]


def test_too_few_samples_widen_the_question():
    world = rig({("memory", "web", "", 30): (7, 3)})

    made = world.create(PODS, pod(resources={"limits": {"cpu": "1"}}))

    assert [row[2:] for row in world.plugin.source.asked] == [
        ("web:1", "ns", 7, True),
        ("web:1", "ns", 30, True),
        ("web:1", "", 7, True),
        ("web:1", "", 30, True),
        ("web", "", 30, False),
    ]
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"memory": "7"}


def test_the_question_may_stay_in_the_namespace():
    world = rig(namespace_only=True, percentile=50)

    made = world.create(PODS, pod(resources={"limits": {"cpu": "1"}}))

    assert world.plugin.source.asked == [
        ("memory", 50, "web:1", "ns", 7, True),
        ("memory", 50, "web:1", "ns", 30, True),
        ("memory", 50, "web", "ns", 30, False),
    ]
    assert "annotations" not in made["metadata"]


@pytest.mark.parametrize("options", [{"data_source": "gcm"}, {"percentile": 101}])
def test_wrong_flags_are_refused(options):
    with pytest.raises(UsageError, match="ir-"):
        rig(**options)


@pytest.fixture
def database():
    """Yield a server, whose `reply` is what it answers and whose `queries` are what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.queries.append((self.path.partition("?")[0], parse_qs(urlsplit(self.path).query)))
            status, body = self.server.reply
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.queries, server.reply = [], (200, b"{}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def influx(server, **options):
    host = f"127.0.0.1:{server.server_address[1]}/influx"
    return AdmissionRig(InitialResources, settings={"ir_influxdb_host": host, **options})


def test_influxdb_is_asked_with_one_statement(database):
    rows = {"results": [{"series": [{"values": [["1970-01-01T00:00:00Z", 250.0, 31]]}]}]}
    database.reply = 200, json.dumps(rows).encode()

    made = influx(database).create(PODS, pod(image="o'web:1", resources={"limits": {"memory": "1"}}))

    path, query = database.queries[0]
    assert path == "/influx/query"
    assert (query["db"], query["u"]) == (["k8s"], ["root"])
    assert query["q"][0].startswith(
        'SELECT percentile("value", 90), count("value") FROM "cpu/usage_rate" '
        "WHERE \"container_base_image\" = 'o\\'web:1' AND \"namespace_name\" = 'ns' AND time > '"
    )
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "250m"}


@pytest.mark.parametrize(
    "reply",
    [(500, b"{}"), (200, b"nonsense"), (200, b'{"results": [{"error": "database not found"}]}'), (200, b"[]")],
    ids=["status", "no JSON", "error", "shape"],
)
def test_a_database_in_trouble_leaves_the_pod_as_it_is(database, reply, caplog):
    database.reply = reply

    made = influx(database).create(PODS, pod())

    assert made == pod()
    assert "Error while trying to estimate resources" in caplog.text


def test_no_sample_is_no_estimate(database):
    database.reply = 200, b'{"results": [{}]}'

    assert influx(database).create(PODS, pod()) == pod()
    assert len(database.queries) == 10
