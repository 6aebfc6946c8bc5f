"""What options cannot be: each refusal in Kubernetes' words, before anything is made."""

import pytest
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.validation import check_key_files, validate

from hyperkube.machinery.errors import UsageError

SOUND = {"storage-backend": "memory"}
WITHOUT_NODE_PORT = "If 0, the Kubernetes master service will be of type ClusterIP"


def refusal(**given):
    with pytest.raises(UsageError) as refused:
        validate(Options.of({**SOUND, **{name.replace("_", "-"): value for name, value in given.items()}}))
    return str(refused.value)


def test_the_defaults_can_be():
    validate(Options.of(SOUND))


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("livez-grace-period", "-1s", "--livez-grace-period can not be a negative value"),
        ("max-requests-inflight", -1, "--max-requests-inflight can not be negative value"),
        ("max-mutating-requests-inflight", -1, "--max-mutating-requests-inflight can not be negative value"),
        ("request-timeout", "-1s", "--request-timeout can not be negative value"),
        ("min-request-timeout", -1, "--min-request-timeout can not be negative value"),
        ("shutdown-delay-duration", "-1s", "--shutdown-delay-duration can not be negative value"),
        (
            "shutdown-watch-termination-grace-period",
            "-1s",
            "shutdown-watch-termination-grace-period, if provided, can not be a negative value",
        ),
        ("goaway-chance", 0.5, "--goaway-chance can not be less than 0 or greater than 0.02"),
        (
            "secure-port",
            70000,
            "--secure-port 70000 must be between 0 and 65535, inclusive. 0 for turning off secure port",
        ),
        (
            "insecure-port",
            -1,
            "--insecure-port -1 must be between 0 and 65535, inclusive. 0 for turning off insecure (HTTP) port",
        ),
        (
            "service-account-max-token-expiration",
            "30m",
            "the service-account-max-token-expiration must be between 1 hour and 2^32 seconds",
        ),
        (
            "service-account-jwks-uri",
            "http://keys",
            "service-account-jwks-uri requires https scheme, parsed as: http://keys",
        ),
        ("apiserver-count", 0, "--apiserver-count should be a positive number, but value '0' provided"),
        ("endpoint-reconciler-type", "x", "--endpoint-reconciler-type must be one of: [lease, master-count, none]"),
        (
            "kubernetes-service-node-port",
            70000,
            f"--kubernetes-service-node-port 70000 must be between 0 and 65535, inclusive. {WITHOUT_NODE_PORT}",
        ),
        ("kubernetes-service-node-port", 80, "kubernetes service node port range 30000-32767 doesn't contain 80"),
        ("storage-backend", "sqlite", "--storage-backend=sqlite needs --data-dir=DIR"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_value_out_of_its_bounds_is_refused(flag, value, message):
    assert refusal(**{flag: value}) == message


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("service-account-max-token-expiration", "1h"),
        ("service-account-jwks-uri", "HTTPS://keys"),
        ("kubernetes-service-node-port", 30000),
        ("kubernetes-service-node-port", 32767),
        ("secure-port", 65535),
        ("goaway-chance", 0.02),
        ("max-requests-inflight", 0),
    ],
)
def test_a_value_at_its_bounds_is_taken(flag, value):
    validate(Options.of({**SOUND, flag: value}))


@pytest.mark.parametrize("name", ["maxage", "maxbackup", "maxsize"])
def test_limits_of_the_audit_log_count_with_a_log(name):
    flag = f"audit-log-{name}"

    assert refusal(**{flag: -1, "audit-log-path": "-"}) == f"--{flag} -1 can't be a negative number"
    validate(Options.of({**SOUND, flag: -1}))


@pytest.mark.parametrize(("backend", "is_on"), [("log", {"path": "-"}), ("webhook", {"config-file": "/x"})])
def test_batches_of_audit_events_have_room(backend, is_on):
    on = {f"audit-{backend}-{name}": value for name, value in {**is_on, "mode": "batch"}.items()}

    assert refusal(**on, **{f"audit-{backend}-batch-buffer-size": 0}) == (
        f"invalid audit batch {backend} buffer size 0, must be a positive number"
    )
    assert refusal(**on, **{f"audit-{backend}-batch-max-size": 0}) == (
        f"invalid audit batch {backend} max batch size 0, must be a positive number"
    )


def test_several_problems_are_told_in_one_line():
    assert refusal(apiserver_count=0, goaway_chance=1) == (
        "[--goaway-chance can not be less than 0 or greater than 0.02,"
        " --apiserver-count should be a positive number, but value '0' provided]"
    )


@pytest.mark.parametrize("flag", ["service-account-key-file", "service-account-signing-key-file"])
def test_a_file_of_keys_that_is_not_there_is_refused(tmp_path, flag):
    path = tmp_path / "key.pem"

    with pytest.raises(UsageError, match=r"cannot read the service account key file '.*key\.pem': No such file"):
        check_key_files(Options.of({flag: str(path)}).service_accounts)
    path.touch()
    check_key_files(Options.of({flag: str(path)}).service_accounts)
