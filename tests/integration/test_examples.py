"""The examples as a third party would use them: built, installed, switched on by a flag, seen at work, removed."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import yaml
from hyperkube_testing.peers.ports import free_port

from hyperkube.client.kubeconfig import client_from_kubeconfig
from hyperkube.kinds.resources import CLUSTER_ROLE_BINDINGS, CUSTOM_RESOURCE_DEFINITIONS, SERVICES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.plugin.loader import installed

sys.path.insert(0, str(Path(__file__).parent))

from example_site import EXAMPLES, Api, Site, end, manager_flags, node, pod, server_flags

NAMES = (
    "require_team_label",
    "signed_names",
    "listed_registries",
    "office_hours",
    "prefer_lucky_node",
    "range_load_balancer",
    "website_controller",
    "owners_command",
    "event_logger",
    "required_labels",
)
WEBSITES = GroupVersionResource("example.com", "v1", "websites")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"))
    for name in NAMES:
        site.install(name)
    return site


@pytest.fixture(scope="module")
def api(site):
    port = free_port()
    server = site.start("apiserver", *server_flags(port), f"--cert-dir={site.folder / 'pki'}")
    api = Api(port)
    try:
        site.wait(lambda: api.ask("GET", "/readyz")[0] == 200, "the API server")
        yield api
    finally:
        end(server)


def test_the_admission_plugin_refuses_and_admits(api):
    refused, answer = api.create("/api/v1/namespaces/default/pods", pod("nobody"))
    admitted, _ = api.create("/api/v1/namespaces/default/pods", pod("red", team="red"))

    assert refused == 403
    assert answer["message"] == (
        "pods \"nobody\" is forbidden: label 'team' is missing: say which team answers for this pod"
    )
    assert admitted == 201


@pytest.fixture(scope="module")
def guarded(site):
    """Yield (what asks the secure port with a token, the key) of a server with the example's two plugins."""
    port, plain = free_port(), free_port()
    key_file = site.folder / "names.key"
    key_file.write_bytes(b"sesame")
    pki = site.folder / "guarded-pki"
    server = site.start(
        "apiserver",
        "--storage-backend=memory", f"--secure-port={port}", f"--insecure-port={plain}", f"--cert-dir={pki}",
        "--bind-address=127.0.0.1", "--service-cluster-ip-range=10.0.0.0/24", "--anonymous-auth=false",
        "--authentication-plugins=SignedNames", "--authorization-mode=OfficeHours,RBAC",
        SIGNED_NAMES_KEY_FILE=str(key_file),
    )  # fmt: skip
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the server's own self-signed one

    def ask(token, method, path):
        headers = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"https://127.0.0.1:{port}{path}", method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    try:
        site.wait(lambda: Api(plain).ask("GET", "/readyz")[0] == 200, "the guarded API server")
        yield ask
    finally:
        end(server)


def signed(name, key=b"sesame"):
    return f"signed.{name}.{hmac.new(key, name.encode(), hashlib.sha256).hexdigest()}"


def test_the_authenticator_names_and_the_authorizer_allows(guarded):
    assert guarded(signed("ann"), "GET", "/api/v1/namespaces/default/configmaps") == 200
    assert guarded(signed("ann"), "GET", "/api/v1/namespaces/default/secrets") == 403
    assert guarded(signed("ann"), "DELETE", "/api/v1/namespaces/default/configmaps/x") == 403
    assert guarded(signed("ann", b"forged"), "GET", "/api/v1/namespaces/default/configmaps") == 401
    assert guarded("another", "GET", "/api/v1/namespaces/default/configmaps") == 401


def test_the_provider_sends_pods_to_the_lucky_node(site, api):
    for index in range(4):
        api.create("/api/v1/nodes", node(f"n{index}", **({"example.com/luck": "good"} if index == 2 else {})))
    flags = (f"--master={api.url}", "--leader-elect=false", "--secure-port=0", "--algorithm-provider=LuckyProvider")
    scheduler = site.start("scheduler", *flags)

    try:
        for index in range(3):
            api.create("/api/v1/namespaces/default/pods", pod(f"lucky-{index}", team="red"))
        where = [
            site.wait(
                lambda name=f"lucky-{index}": api.get(f"/api/v1/namespaces/default/pods/{name}")["spec"].get(
                    "nodeName"
                ),
                "a node",
            )
            for index in range(3)
        ]
    finally:
        end(scheduler)

    assert where == ["n2", "n2", "n2"]


def test_the_controller_makes_a_deployment_and_a_service_of_a_website(site, api):
    for document in yaml.safe_load_all((EXAMPLES / "website_controller" / "website.yaml").read_text()):
        group, plural = document["apiVersion"], document["kind"].lower() + "s"
        assert api.create(f"/apis/{group}/{plural}", document)[0] == 201
    site.wait(lambda: api.get("/apis/example.com/v1/websites"), "the new resource")
    hello = yaml.safe_load((EXAMPLES / "website_controller" / "hello.yaml").read_text())
    manager = site.start("controller-manager", *manager_flags(api), "--controllers=website")

    try:
        assert api.create("/apis/example.com/v1/namespaces/default/websites", hello)[0] == 201
        deployment = site.wait(lambda: api.get("/apis/apps/v1/namespaces/default/deployments/hello"), "a deployment")
        service = site.wait(lambda: api.get("/api/v1/namespaces/default/services/hello"), "a service")
    finally:
        end(manager)

    assert deployment["spec"]["replicas"] == 2
    assert service["spec"]["ports"][0]["port"] == 8080


def test_the_controllers_rules_come_with_it(site):
    """In `up` each controller acts as its own service account, under RBAC; Websites need nothing but their definition."""
    data, port = site.folder / "up", free_port()
    flags = (f"--data-dir={data}", f"--secure-port={port}", f"--kubelet-port={free_port()}")
    clients = ExitStack()
    cluster = site.start("up", *flags)

    try:
        site.wait((data / "up.json").exists, "the cluster")
        client = clients.enter_context(closing(client_from_kubeconfig(data / "admin.kubeconfig")))
        (definition,) = yaml.safe_load_all((EXAMPLES / "website_controller" / "website.yaml").read_text())
        client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)
        hello = yaml.safe_load((EXAMPLES / "website_controller" / "hello.yaml").read_text())
        site.wait(lambda: _made(client, WEBSITES, hello), "the new resource")
        site.wait(lambda: client.get(WEBSITES, "hello", "default").get("status"), "the website's status")
        account = client.get(CLUSTER_ROLE_BINDINGS, "system:controller:website-controller")["subjects"]
        services = client.list(SERVICES, "default").items
    finally:
        clients.close()
        end(cluster)

    assert [subject["name"] for subject in account] == ["website-controller"]
    assert "hello" in {service["metadata"]["name"] for service in services}


def _made(client, resource, obj):
    try:
        return client.create(resource, obj, "default")
    except NotFound:
        return None


def listed(site):
    """Return what the help says of each server and command."""
    return dict(re.findall(r"^  (\S+) +(.+)$", site.output("--help"), re.MULTILINE))


def test_the_server_is_listed_and_a_link_of_its_name_starts_it(site, api):
    program = site.folder / "hyperkube"
    program.write_text(f"#!{site.python}\nfrom hyperkube.command.main import main\nmain()\n")
    program.chmod(0o755)
    link = site.folder / "kube-event-logger"
    link.symlink_to(program)
    out = site.folder / "events.jsonl"
    with out.open("w") as file:
        logger = subprocess.Popen([str(link), f"--master={api.url}", "--event-type=Warning"], stdout=file)

    try:
        event = {
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"},
            "type": "Warning",
            "reason": "BackOff",
        }
        assert api.create("/api/v1/namespaces/default/events", event)[0] == 201
        line = site.wait(out.read_text, "the event")
    finally:
        end(logger)

    assert listed(site)["event-logger"] == "the same as kube-event-logger"
    assert "--event-type string" in site.output("event-logger", "--help")
    assert json.loads(line)["object"] == "Pod/a"
    assert site.refusal("event-logger", "--event-type=Error") == (
        "error: --event-type must be Normal or Warning, not 'Error'"
    )


def test_the_flag_of_the_admission_plugin_is_the_servers(site, tmp_path):
    config = tmp_path / "plugins.yaml"
    config.write_text("admission.RequiredLabels:\n  hint: see the wiki\n")
    port = free_port()
    flags = (
        "--storage-backend=memory", "--secure-port=0", f"--insecure-port={port}", f"--cert-dir={tmp_path}",
        "--enable-admission-plugins=RequiredLabels", "--disable-admission-plugins=ServiceAccount",
        f"--plugin-config={config}",
    )  # fmt: skip
    gate = "--feature-gates=RequiredLabelsOfJobs=true"
    server = site.start("apiserver", *flags, "--required-labels=team,cost-center", gate)
    api = Api(port)

    try:
        site.wait(lambda: api.ask("GET", "/readyz")[0] == 200, "the API server")
        refused, answer = api.create("/api/v1/namespaces/default/pods", pod("a", team="red"))
        template = {"spec": {**pod("a")["spec"], "restartPolicy": "Never"}}
        job, _ = api.create(
            "/apis/batch/v1/namespaces/default/jobs", {"metadata": {"name": "j"}, "spec": {"template": template}}
        )
    finally:
        end(server)

    assert refused == 403
    assert answer["message"] == 'pods "a" is forbidden: labels are missing: cost-center (see the wiki)'
    assert job == 403
    shown = " ".join(site.output("apiserver", "--help").split())
    assert "--required-labels strings" in shown
    assert "RequiredLabelsOfJobs=true|false (ALPHA - default=false): jobs need the labels, too" in shown
    assert "did you mean RequiredLabelsOfJobs?" in site.refusal(
        "apiserver", *flags, "--feature-gates=RequiredLabelsOfJbos=true"
    )
    assert site.refusal("apiserver", *flags, "--required-labels-grace-period=soon").startswith(
        "error: invalid argument 'soon' for --required-labels-grace-period: "
    )
    config.write_text("admission.RequiredLabels:\n  hints: see the wiki\n")
    line = site.refusal("apiserver", *flags)
    assert "\n" not in line
    assert "'hints'" in line
    assert "RequiredLabels" in line


def test_the_command_is_listed_and_shows_who_owns_whom(site, api):
    kubeconfig = site.folder / "plain.kubeconfig"
    cluster = {"clusters": [{"name": "c", "cluster": {"server": api.url}}], "users": [{"name": "u", "user": {}}]}
    context = {"contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x"}
    kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **cluster, **context}))
    config_maps = "/api/v1/namespaces/default/configmaps"
    owner = api.create(config_maps, {"metadata": {"name": "owner"}})[1]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    api.create(config_maps, {"metadata": {"name": "owned", "ownerReferences": [reference]}})

    assert listed(site)["owners"] == "Print the objects of a namespace as a tree of owners."
    assert "ConfigMap/owner\n  ConfigMap/owned\n" in site.output("owners", f"--kubeconfig={kubeconfig}")
    assert site.refusal("owners", "--depth=2").startswith("error: No such option '--depth'")


@pytest.mark.skipif("service" not in installed("controller"), reason="no service controller is installed")
def test_the_cloud_provider_hands_out_an_address_of_its_range(site, api):
    config = site.folder / "cloud.conf"
    config.write_text("[LoadBalancer]\nrange = 192.0.2.8/30\n")
    balanced = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "balanced"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": "web"}},
    }
    flags = ("--controllers=service", "--cloud-provider=range", f"--cloud-config={config}")
    manager = site.start("controller-manager", *manager_flags(api), *flags)

    try:
        assert api.create("/api/v1/namespaces/default/services", balanced)[0] == 201
        rows = site.wait(
            lambda: api.get("/api/v1/namespaces/default/services/balanced")["status"]["loadBalancer"].get("ingress"),
            "an address",
        )
    finally:
        end(manager)

    assert [row["ip"] for row in rows] == ["192.0.2.9"]


def test_the_policy_reads_the_list_of_registries(site, tmp_path):
    port = free_port()
    file = tmp_path / "admission.yaml"  # a busy machine takes its time: the budget is not what is tried here
    text = (EXAMPLES / "listed_registries" / "admission.yaml").read_text()
    file.write_text(text.replace("budget: 200 ", "budget: 60000 "))
    assert "budget: 60000 " in file.read_text()
    flags = (
        "--storage-backend=memory",
        "--secure-port=0",
        f"--insecure-port={port}",
        f"--cert-dir={tmp_path}",
        "--enable-admission-plugins=PythonPolicy",
        "--disable-admission-plugins=ServiceAccount",
        f"--admission-control-config-file={file}",
    )
    server = site.start("apiserver", *flags)
    api = Api(port)

    def create(name, image):
        spec = {"containers": [{"name": "c", "image": image}]}
        return api.create("/api/v1/namespaces/default/pods", {**pod(name), "spec": spec})

    try:
        site.wait(lambda: api.ask("GET", "/readyz")[0] == 200, "the API server")
        unlisted, _ = create("early", "other.example/app")
        listed = {"metadata": {"name": "registries"}, "data": {"registries": "registry.example"}}
        assert api.create("/api/v1/namespaces/kube-system/configmaps", listed)[0] == 201
        refused, answer = create("bad", "bad.example/app")
        admitted, _ = create("good", "registry.example/app")
    finally:
        end(server)

    assert unlisted == 201
    assert refused == 403
    assert answer["message"] == (
        'pods "bad" is forbidden: policy "listed-registries" denied the request: '
        "image 'bad.example/app' must come from one of: registry.example"
    )
    assert admitted == 201


@pytest.mark.parametrize(
    ("example", "plugin", "server", "flag"),
    [
        ("require_team_label", "RequireTeamLabel", "apiserver", "--enable-admission-plugins=RequireTeamLabel"),
        ("signed_names", "SignedNames", "apiserver", "--authentication-plugins=SignedNames"),
        ("office_hours", "OfficeHours", "apiserver", "--authorization-mode=OfficeHours"),
        ("prefer_lucky_node", "LuckyProvider", "scheduler", "--algorithm-provider=LuckyProvider"),
        ("website_controller", "website", "controller-manager", "--controllers=website"),
    ],
    ids=["admission", "authenticator", "authorizer", "scheduler", "controller"],
)
def test_without_its_distribution_one_line_names_the_plugin_and_the_installed_ones(
    site, tmp_path, example, plugin, server, flag
):
    site.uninstall(example)
    rest = ("--storage-backend=memory", "--secure-port=0", f"--cert-dir={tmp_path}")
    flags = (
        rest if server == "apiserver" else ("--master=http://127.0.0.1:1", "--leader-elect=false", "--secure-port=0")
    )

    line = site.refusal(server, *flags, flag)

    assert "\n" not in line
    assert line.startswith("error: ")
    assert f"'{plugin}'" in line
    assert "installed: " in line
    site.install(example)
