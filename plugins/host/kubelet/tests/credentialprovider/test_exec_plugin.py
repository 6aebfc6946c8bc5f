"""Programs that know credentials."""

import stat

import orjson
import pytest
import yaml
from hyperkube_host.kubelet.credentialprovider.exec_plugin import (
    Credentials,
    ExecPlugin,
    PluginFailed,
    Request,
    ServiceAccounts,
    read_response,
    run_plugin,
)
from hyperkube_host.kubelet.credentialprovider.keyring import ServiceAccountSource
from hyperkube_host.kubelet.credentialprovider.provider_config import (
    CredentialProvider,
    TokenAttributes,
    read_providers,
)

from hyperkube.hookspecs.runtime import RegistryCredentials
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound, UsageError

VERSION = "credentialprovider.kubelet.k8s.io/v1"
POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {"serviceAccountName": "robot"}}
ENTRY = {"name": "ecr", "matchImages": ["*.test"], "defaultCacheDuration": "12h", "apiVersion": VERSION}
TOKEN = {"serviceAccountTokenAudience": "reg", "requireServiceAccount": True, "cacheType": "ServiceAccount"}


def provider(**changes):
    base = {"name": "ecr", "match_images": ("*.test",), "cache_seconds": 60.0, "api_version": VERSION}
    return CredentialProvider(**{**base, **changes})


def program(tmp_path, script):
    path = tmp_path / "ecr"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def answer(**changes):
    auth = {"registry.test": {"username": "joe", "password": "pw"}}
    return {
        "kind": "CredentialProviderResponse",
        "apiVersion": VERSION,
        "cacheKeyType": "Registry",
        "auth": auth,
        **changes,
    }


class Program:
    """Answers in the process, and counts."""

    def __init__(self, kind="Registry", seconds=None):
        self.requests = []
        self.answer = Credentials({"*.test": RegistryCredentials(username="joe", password="pw")}, kind, seconds)

    def __call__(self, request):
        self.requests.append(request)
        return self.answer


def accounts(annotations=None, found=True):
    def get(namespace, name):
        if not found:
            raise NotFound(name)
        return {"metadata": {"name": name, "namespace": namespace, "uid": "sa", "annotations": annotations or {}}}

    return ServiceAccounts(get, lambda pod, audience: f"token-for-{audience}")


def plugin(run, clock=None, account=None, **changes):
    return ExecPlugin(provider(**changes), clock or FakeClock(), account or accounts(), run)


def test_a_program_is_asked_on_its_input_with_its_environment(tmp_path):
    script = 'read line; echo "$line" > asked; [ "$ZONE" = a ] && [ "$1" = --x ] || exit 3; cat answer'
    folder = program(tmp_path, f"cd {tmp_path}; {script}")
    (tmp_path / "answer").write_bytes(orjson.dumps(answer(cacheDuration="5m0s")))

    found = run_plugin(provider(args=("--x",), env=(("ZONE", "a"),)), folder, Request("registry.test/app"))

    assert found == Credentials(
        {"registry.test": RegistryCredentials(username="joe", password="pw")}, "Registry", 300.0
    )
    asked = orjson.loads((tmp_path / "asked").read_bytes())
    assert asked == {"kind": "CredentialProviderRequest", "apiVersion": VERSION, "image": "registry.test/app"}


def test_a_program_that_fails_says_why(tmp_path):
    folder = program(tmp_path, "echo no luck >&2; exit 2")

    with pytest.raises(PluginFailed, match="plugin ecr for image i: exit status 2: no luck"):
        run_plugin(provider(), folder, Request("i"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"s3cret", "error decoding credential provider plugin response from stdout"),
        (orjson.dumps(answer(kind="Other")), "error decoding"),
        (orjson.dumps(answer(auth=["s3cret"])), "error decoding"),
        (orjson.dumps(answer(cacheDuration="soon")), "error decoding"),
        (orjson.dumps(answer(apiVersion="x/v2")), "did not match expected apiVersion"),
        (orjson.dumps(answer(cacheKeyType="Pod")), 'did not return a valid cacheKeyType: "Pod"'),
    ],
)
def test_what_is_no_answer_is_refused_without_being_shown(data, why):
    with pytest.raises(PluginFailed) as caught:
        read_response(data, VERSION)

    assert why in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_only_images_that_match_are_asked_about():
    run = Program()

    assert plugin(run).lookup("elsewhere.example/app", POD) == []
    assert run.requests == []


@pytest.mark.parametrize(("kind", "asked"), [("Image", 3), ("Registry", 2), ("Global", 1)])
def test_answers_are_kept_as_far_as_the_program_says(kind, asked):
    run = Program(kind)
    one = plugin(run)

    for image in ("a.test/one", "a.test/one", "a.test/two", "b.test/one"):
        assert [found.credentials.username for found in one.lookup(image, POD)] == ["joe"]

    assert len(run.requests) == asked


@pytest.mark.parametrize(("seconds", "after", "asked"), [(None, 59, 1), (None, 61, 2), (10.0, 11, 2), (0.0, 0, 2)])
def test_answers_are_kept_as_long_as_they_are_good(seconds, after, asked):
    clock, run = FakeClock(), Program(seconds=seconds)
    one = plugin(run, clock)

    one.lookup("a.test/one", POD)
    clock.advance(after)
    one.lookup("a.test/one", POD)

    assert len(run.requests) == asked


def test_a_failing_program_gives_nothing(caplog):
    def fail(request):
        raise PluginFailed("broken")

    assert plugin(fail).lookup("a.test/one", POD) == []
    assert "broken" in caplog.text


def token(**changes):
    base = {"audience": "reg", "cache_type": "ServiceAccount", "require_service_account": True}
    return TokenAttributes(**{**base, **changes})


def test_a_program_may_be_given_a_token_of_the_pods_account():
    run = Program()
    one = plugin(run, account=accounts({"zone": "a", "other": "b"}), token=token(required_annotations=("zone",)))

    (found,) = one.lookup("a.test/one", POD)

    assert found.source == ServiceAccountSource("sa", "ns", "robot")
    assert run.requests == [Request("a.test/one", "token-for-reg", {"zone": "a"})]


@pytest.mark.parametrize(
    ("account", "pod", "asked"),
    [
        pytest.param(accounts(), POD, 0, id="an-annotation-is-missing"),
        pytest.param(accounts(found=False), POD, 0, id="no-such-account"),
        pytest.param(accounts(), {**POD, "spec": {}}, 0, id="no-account"),
    ],
)
def test_without_what_it_needs_a_program_is_not_asked(account, pod, asked):
    run = Program()

    found = plugin(run, account=account, token=token(required_annotations=("zone",))).lookup("a.test/one", pod)

    assert (found, len(run.requests)) == ([], asked)


def test_a_static_pod_has_no_account_and_may_be_asked_about_all_the_same():
    run = Program()

    found = plugin(run, token=token(require_service_account=False)).lookup("a.test/one", {**POD, "spec": {}})

    assert [row.source for row in found] == [None]
    assert run.requests == [Request("a.test/one")]


def config(tmp_path, *entries, name="c.yaml"):
    path = tmp_path / name
    document = {
        "kind": "CredentialProviderConfig",
        "apiVersion": "kubelet.config.k8s.io/v1",
        "providers": list(entries),
    }
    path.write_text(yaml.safe_dump(document))
    return path


def test_a_folder_of_files_is_one_configuration(tmp_path):
    config(tmp_path, {**ENTRY, "name": "b", "args": ["x"], "env": [{"name": "A", "value": "1"}]}, name="2.yaml")
    config(tmp_path, {**ENTRY, "name": "a", "tokenAttributes": TOKEN}, name="1.json")

    first, second = read_providers(tmp_path)

    assert (first.name, second.name) == ("a", "b")
    assert first.token == TokenAttributes(audience="reg", cache_type="ServiceAccount", require_service_account=True)
    assert (second.args, second.env, second.cache_seconds) == (("x",), (("A", "1"),), 43200.0)


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([], "at least 1 item in plugins is required"),
        ([{**ENTRY, "name": "a/b"}], "provider name cannot"),
        ([ENTRY, ENTRY], 'Duplicate value: "ecr"'),
        ([{**ENTRY, "apiVersion": "v9"}], 'Unsupported value: "v9"'),
        ([{**ENTRY, "matchImages": []}], "at least 1 item in matchImages is required"),
        ([{**ENTRY, "matchImages": ["[::1"]}], "match image is invalid"),
        ([{**ENTRY, "defaultCacheDuration": None}], "defaultCacheDuration: Required value"),
        ([{**ENTRY, "defaultCacheDuration": "-1s"}], "must be greater than or equal to 0"),
        ([{**ENTRY, "defaultCacheDuration": "x"}], "defaultCacheDuration: Invalid value"),
        ([{**ENTRY, "tokenAttributes": {}}], "serviceAccountTokenAudience: Required value"),
        ([{**ENTRY, "tokenAttributes": {**TOKEN, "cacheType": "No"}}], 'cacheType: Unsupported value: "No"'),
        (
            [{**ENTRY, "tokenAttributes": {**TOKEN, "requiredServiceAccountAnnotationKeys": ["a"],
                                           "optionalServiceAccountAnnotationKeys": ["a"]}}],
            "annotation keys cannot be both required and optional",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_configuration_is_one_line(tmp_path, entries, why):
    with pytest.raises(UsageError) as caught:
        read_providers(config(tmp_path, *entries))

    assert why in str(caught.value)


@pytest.mark.parametrize("content", ["kind: Pod", "{", "- 1"])
def test_another_file_is_refused(tmp_path, content):
    (tmp_path / "c.yaml").write_text(content)

    with pytest.raises(UsageError, match="image-credential-provider-config"):
        read_providers(tmp_path / "c.yaml")


def test_a_path_without_files_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no configuration files found"):
        read_providers(tmp_path)
    with pytest.raises(UsageError, match="unable to access path"):
        read_providers(tmp_path / "none")
