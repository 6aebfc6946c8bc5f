"""The API server's flags: all that Kubernetes has had are taken, and what does nothing says so."""

import subprocess
import sys

import pytest
from hyperkube_host.apiserver.command import COMMAND
from hyperkube_host.apiserver.completion import complete
from hyperkube_host.apiserver.options import Options

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import by_name, typed
from hyperkube.plugin.loader import installed

pytestmark = pytest.mark.skipif(not installed("authn"), reason="needs the plugins that bring the flags of 1.x")

OF_1_0 = """
    insecure-bind-address address insecure-port port bind-address public-address-override advertise-address secure-port
    external-hostname api-rate api-burst tls-cert-file tls-private-key-file cert-dir api-prefix experimental-prefix
    storage-version cloud-provider cloud-config event-ttl basic-auth-file client-ca-file token-auth-file oidc-issuer-url
    oidc-client-id oidc-ca-file oidc-username-claim service-account-key-file service-account-lookup
    experimental-keystone-url authorization-mode authorization-policy-file admission-control
    admission-control-config-file etcd-servers etcd-config etcd-prefix cors-allowed-origins allow-privileged
    service-cluster-ip-range portal-net service-node-port-range service-node-ports master-service-namespace
    runtime-config kubelet-https kubelet-port kubelet-timeout kubelet-client-certificate kubelet-client-key
    kubelet-certificate-authority cluster-name profiling max-requests-inflight min-request-timeout
    long-running-request-regexp ssh-user ssh-keyfile max-connection-bytes-per-sec
"""
OF_1_5 = """
    kubelet-preferred-address-types authentication-token-webhook-config-file authentication-token-webhook-cache-ttl
    authorization-webhook-config-file authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl authorization-rbac-super-user anonymous-auth storage-media-type
    delete-collection-workers audit-log-path audit-log-maxage audit-log-maxbackup audit-log-maxsize
    enable-garbage-collector contention-profiling enable-swagger-ui watch-cache etcd-servers-overrides
    deserialization-cache-size storage-backend etcd-keyfile etcd-certfile etcd-cafile etcd-quorum-read
    experimental-keystone-ca-file kubernetes-service-node-port apiserver-count oidc-groups-claim
    requestheader-username-headers requestheader-client-ca-file requestheader-allowed-names storage-versions
    target-ram-mb tls-ca-file tls-sni-cert-key insecure-allow-any-token watch-cache-sizes logtostderr v
"""
OF_1_36 = """
    livez-grace-period shutdown-delay-duration shutdown-send-retry-after shutdown-watch-termination-grace-period
    goaway-chance request-timeout tls-cipher-suites tls-min-version http2-max-streams-per-connection
    permit-port-sharing permit-address-sharing egress-selector-config-file tracing-config-file peer-advertise-ip
    peer-advertise-port enable-priority-and-fairness authentication-config authorization-config enable-logs-handler
    service-account-jwks-uri endpoint-reconciler-type
"""
WITHOUT_EFFECT = {
    "api-burst", "api-prefix", "api-rate", "cluster-name", "contention-profiling",
    "deserialization-cache-size",
    "enable-aggregator-routing", "experimental-prefix",
    "kubelet-read-only-port", "master-service-namespace",
    "log-flush-frequency", "permit-address-sharing", "tls-ca-file",
    "aggregator-reject-forwarding-redirects", "allow-metric-labels", "allow-metric-labels-manifest",
    "audit-log-batch-throttle-burst", "audit-log-batch-throttle-enable", "audit-log-batch-throttle-qps",
    "audit-log-truncate-enabled", "audit-log-truncate-max-batch-size", "audit-log-truncate-max-event-size",
    "audit-log-version", "audit-webhook-batch-throttle-burst", "audit-webhook-batch-throttle-enable",
    "audit-webhook-batch-throttle-qps", "audit-webhook-truncate-enabled", "audit-webhook-truncate-max-batch-size",
    "audit-webhook-truncate-max-event-size", "audit-webhook-version", "coordinated-leadership-lease-duration",
    "coordinated-leadership-renew-deadline", "coordinated-leadership-retry-period", "debug-socket-path",
    "disabled-metrics", "emulated-version", "emulation-forward-compatible",
    "log-json-info-buffer-size", "log-json-split-stream", "log-text-info-buffer-size", "log-text-split-stream",
    "min-compatibility-version", "runtime-config-emulation-forward-compatible",
    "service-account-signing-endpoint", "show-hidden-metrics-for-version",
    "strict-transport-security-directives", "tls-curve-preferences",
}  # fmt: skip
"""Flags of all servers that do nothing yet."""


@pytest.mark.parametrize("name", [*OF_1_0.split(), *OF_1_5.split(), *OF_1_36.split()])
def test_a_flag_of_kubernetes_is_taken(name):
    assert name in by_name(COMMAND.all_flags())


def test_what_does_nothing_is_known_and_says_so():
    idle = {flag.name for flag in COMMAND.all_flags() if flag.idle}

    assert idle == WITHOUT_EFFECT
    assert all(flag.idle == "no effect" for flag in COMMAND.all_flags() if flag.name in WITHOUT_EFFECT)


def test_whoever_gives_such_a_flag_is_told(capsys):
    COMMAND.parse(["--api-rate=5"])

    said = capsys.readouterr().err
    assert said == "warning: --api-rate is accepted, but has no effect: it limited a read-only port that 1.0 dropped\n"


def test_a_pair_of_files_with_names_stays_one_value():
    options = COMMAND.parse(["--tls-sni-cert-key=a.crt,a.key:a.org,*.a.org", "--tls-sni-cert-key=b.crt,b.key"])

    assert options["tls-sni-cert-key"] == ("a.crt,a.key:a.org,*.a.org", "b.crt,b.key")


def test_values_are_shown_as_they_would_be_typed():
    options = COMMAND.parse(
        ["--event-ttl=90m", "--authorization-mode=Node,RBAC", "--feature-gates=A=true,B=false", "--ir-password=x"],
    )

    shown = typed(COMMAND.all_flags(), options)

    assert shown["event-ttl"] == "1h30m0s"
    assert shown["authorization-mode"] == "[Node,RBAC]"
    assert shown["feature-gates"] == "A=true,B=false"
    assert shown["allow-privileged"] == "false"
    assert shown["ir-password"] == "CLASSIFIED"
    assert shown["goaway-chance"] == "0"


def test_only_a_given_expression_takes_paths_out_of_the_limits():
    given = Options.of(COMMAND.parse(["--long-running-request-regexp=/slow$"]))

    assert Options.of(COMMAND.parse([])).long_running is None
    assert given.long_running is not None
    assert given.long_running.pattern == "/slow$"


def test_an_expression_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"--long-running-request-regexp='\[' is no regular expression"):
        Options.of(COMMAND.parse(["--long-running-request-regexp=["]))


def test_the_flags_reach_the_server_as_text_for_flagz(tmp_path):
    options = complete(COMMAND.parse(["--storage-backend=memory", f"--cert-dir={tmp_path}", "--secure-port=0"]))

    assert options.flagz["storage-backend"] == "memory"
    assert options.is_announced


def test_an_unknown_reconciler_is_refused(tmp_path):
    given = ["--storage-backend=memory", f"--cert-dir={tmp_path}", "--endpoint-reconciler-type=guess"]

    with pytest.raises(UsageError, match=r"must be one of: \[lease, master-count, none\]"):
        complete(COMMAND.parse(given))


@pytest.mark.parametrize(
    ("given", "port"),
    [
        pytest.param([], 0, id="without"),
        pytest.param(["--insecure-bind-address=127.0.0.1"], 8080, id="with-its-address"),
        pytest.param(["--address=127.0.0.1"], 8080, id="with-its-address-of-old"),
        pytest.param(["--address=127.0.0.1", "--insecure-port=0"], 0, id="switched-off"),
        pytest.param(["--insecure-bind-address=127.0.0.1", "--port=9090"], 9090, id="another"),
    ],
)
def test_the_http_port_is_that_of_1_x_where_its_address_is_given(given, port, tmp_path):
    line = ["--storage-backend=memory", f"--cert-dir={tmp_path}", "--secure-port=0", *given]

    assert complete(COMMAND.parse(line)).listener.insecure_port == port


def test_a_key_that_verifies_leaves_the_server_able_to_verify_its_own_tokens(tmp_path):
    key = tmp_path / "a.key"
    key.touch()
    line = [
        "--storage-backend=memory",
        f"--cert-dir={tmp_path}",
        "--secure-port=0",
        f"--service-account-key-file={key}",
    ]

    accounts = complete(COMMAND.parse(line)).service_accounts

    signing = str(tmp_path / "service-account.key")
    assert accounts.service_account_signing_key_file == signing
    assert accounts.service_account_key_file == (str(key), signing)


def test_a_server_makes_its_certificate_and_its_key_once_and_rests_without_the_library_that_does(tmp_path):
    program = (
        "import sys\n"
        "from hyperkube_host.apiserver.command import COMMAND\n"
        "from hyperkube_host.apiserver.completion import complete\n"
        f"complete(COMMAND.parse(['--storage-backend=memory', '--cert-dir={tmp_path}', '--secure-port=6443']))\n"
        "print('cryptography' in sys.modules)"
    )
    made = []
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"False\n"
        made.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})

    assert made[0] == made[1]
    assert set(made[0]) == {"apiserver.crt", "apiserver.key", "service-account.key"}
