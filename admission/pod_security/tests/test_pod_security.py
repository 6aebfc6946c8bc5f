import pytest
from hyperkube_admission.pod_security import MOST_PODS, PodSecurity

from hyperkube.kinds.resources import CRON_JOBS, DEPLOYMENTS, NAMESPACES, PODS
from hyperkube.machinery.errors import Forbidden, InternalError, Invalid, UsageError
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

LABEL = "pod-security.kubernetes.io/"


def namespace(name="ns", **labels):
    marks = {LABEL + key.replace("_", "-"): value for key, value in labels.items()}
    return {"kind": "Namespace", "metadata": {"name": name, "labels": marks}}


def pod(*contexts, name="p", annotations=None, **spec):
    listed = [
        {"name": f"c{place}", "image": "i", "securityContext": dict(entry)} for place, entry in enumerate(contexts)
    ]
    return {
        "metadata": {"name": name, "namespace": "ns", "annotations": annotations or {}},
        "spec": {"containers": listed or [{"name": "c0", "image": "i"}], **spec},
    }


GOOD = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
GOOD_POD = {"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}}


def rig_of(settings=None, **labels):
    rig = AdmissionRig(PodSecurity, settings=settings)
    rig.seed(NAMESPACES, namespace(**labels))
    return rig


def refusal(rig, obj):
    with pytest.raises(Forbidden) as caught:
        rig.create(PODS, obj)
    return caught.value.message


class TestPromises(AdmissionContract):
    plugin = PodSecurity

    def populate(self, rig):
        rig.client.seed(NAMESPACES, namespace(enforce="baseline", warn="restricted"))

    def concerned(self, rig):
        return [
            rig.request("CREATE", PODS, pod({"privileged": True})),
            rig.request("CREATE", PODS, pod()),
            rig.request("UPDATE", NAMESPACES, namespace(enforce="strict"), namespace()),
        ]


BASELINE_BREAKS = {
    "privileged": (
        pod({"privileged": True}, {"privileged": True}),
        'privileged (containers "c0", "c1" must not set securityContext.privileged=true)',
    ),
    "capabilities": (
        pod({"capabilities": {"add": ["SYS_ADMIN", "CHOWN", "NET_ADMIN"]}}),
        (
            'non-default capabilities (container "c0" must not include "NET_ADMIN", "SYS_ADMIN" '
            "in securityContext.capabilities.add)"
        ),
    ),
    "host namespaces": (pod(hostNetwork=True, hostPID=True), "host namespaces (hostNetwork=true, hostPID=true)"),
    "host paths": (
        pod(volumes=[{"name": "a", "hostPath": {}}, {"name": "b", "hostPath": {}}, {"name": "c", "emptyDir": {}}]),
        'hostPath volumes (volumes "a", "b")',
    ),
    "host ports": (
        pod(containers=[{"name": "c", "ports": [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2}]}]),
        'hostPort (container "c" uses hostPort 80)',
    ),
    "probe hosts": (
        pod(
            containers=[
                {
                    "name": "a",
                    "livenessProbe": {"httpGet": {"host": "127.0.0.1"}},
                    "readinessProbe": {"tcpSocket": {"host": "::1"}},
                    "lifecycle": {"preStop": {"httpGet": {"host": "localhost"}}, "postStart": {"exec": {}}},
                }
            ]
        ),
        'probe or lifecycle host (container "a" uses probe or lifecycle hosts "127.0.0.1", "::1", "localhost")',
    ),
    "proc mount": (
        pod({"procMount": "Unmasked"}),
        'procMount (container "c0" must not set securityContext.procMount to "Unmasked")',
    ),
    "selinux": (
        pod({"seLinuxOptions": {"type": "spc_t"}}, securityContext={"seLinuxOptions": {"user": "u", "role": "r"}}),
        (
            'seLinuxOptions (pod and container "c0" set forbidden securityContext.seLinuxOptions: type "spc_t"; '
            "user may not be set; role may not be set)"
        ),
    ),
    "seccomp": (
        pod({"seccompProfile": {"type": "Unconfined"}}),
        'seccompProfile (container "c0" must not set securityContext.seccompProfile.type to "Unconfined")',
    ),
    "sysctls": (
        pod(securityContext={"sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_rmem"}]}),
        "forbidden sysctls (kernel.msgmax)",
    ),
    "host process": (
        pod(securityContext={"windowsOptions": {"hostProcess": True}}),
        "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
    ),
    "apparmor": (
        pod({"appArmorProfile": {"type": "Unconfined"}}),
        'forbidden AppArmor profile (container "c0" must not set AppArmor profile type to "Unconfined")',
    ),
    "apparmor annotation": (
        pod(annotations={"container.apparmor.security.beta.kubernetes.io/c0": "unconfined"}),
        (
            "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
            '"container.apparmor.security.beta.kubernetes.io/c0="unconfined"")'
        ),
    ),
}


@pytest.mark.parametrize("case", BASELINE_BREAKS)
def test_baseline_refuses_what_breaks_out(case):
    obj, text = BASELINE_BREAKS[case]
    rig = rig_of(enforce="baseline")

    assert refusal(rig, obj) == f'violates PodSecurity "baseline:latest": {text}'


RESTRICTED_BREAKS = {
    "escalation": (
        pod({"capabilities": {"drop": ["ALL"]}}, **GOOD_POD),
        'allowPrivilegeEscalation != false (container "c0" must set securityContext.allowPrivilegeEscalation=false)',
    ),
    "capabilities": (
        pod({"allowPrivilegeEscalation": False, "capabilities": {"add": ["CHOWN", "NET_BIND_SERVICE"]}}, **GOOD_POD),
        (
            'unrestricted capabilities (container "c0" must set securityContext.capabilities.drop=["ALL"]; '
            'container "c0" must not include "CHOWN" in securityContext.capabilities.add)'
        ),
    ),
    "volumes": (
        pod(GOOD, volumes=[{"name": "a", "hostPath": {}}, {"name": "b", "nfs": {}}], **GOOD_POD),
        'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
    ),
    "root allowed": (
        pod({**GOOD, "runAsNonRoot": False}, **GOOD_POD),
        'runAsNonRoot != true (container "c0" must not set securityContext.runAsNonRoot=false)',
    ),
    "root number": (pod({**GOOD, "runAsUser": 0}, **GOOD_POD), 'runAsUser=0 (container "c0" must not set runAsUser=0)'),
    "nothing said": (
        pod(GOOD),
        (
            'runAsNonRoot != true (pod or container "c0" must set securityContext.runAsNonRoot=true), '
            'seccompProfile (pod or container "c0" must set securityContext.seccompProfile.type to '
            '"RuntimeDefault" or "Localhost")'
        ),
    ),
}


@pytest.mark.parametrize("case", RESTRICTED_BREAKS)
def test_restricted_wants_good_practice_to_be_said(case):
    obj, text = RESTRICTED_BREAKS[case]
    rig = rig_of(enforce="restricted")

    assert refusal(rig, obj) == f'violates PodSecurity "restricted:latest": {text}'


def test_the_worst_pod_breaks_each_rule_once_and_in_order():
    rig = rig_of(enforce="restricted")
    worst = pod(
        {"privileged": True, "runAsUser": 0},
        hostNetwork=True,
        hostPID=True,
        volumes=[{"name": "host", "hostPath": {}}],
    )

    assert refusal(rig, worst) == (
        'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true, hostPID=true), '
        'privileged (container "c0" must not set securityContext.privileged=true), '
        'allowPrivilegeEscalation != false (container "c0" must set securityContext.allowPrivilegeEscalation=false), '
        'unrestricted capabilities (container "c0" must set securityContext.capabilities.drop=["ALL"]), '
        'restricted volume types (volume "host" uses restricted volume type "hostPath"), '
        'runAsNonRoot != true (pod or container "c0" must set securityContext.runAsNonRoot=true), '
        'runAsUser=0 (container "c0" must not set runAsUser=0), '
        'seccompProfile (pod or container "c0" must set securityContext.seccompProfile.type to '
        '"RuntimeDefault" or "Localhost")'
    )


@pytest.mark.parametrize(
    ("level", "obj"),
    [
        ("privileged", pod({"privileged": True}, hostNetwork=True)),
        ("baseline", pod()),
        ("baseline", pod({"capabilities": {"add": ["CHOWN"]}, "seLinuxOptions": {"type": "container_engine_t"}})),
        ("restricted", pod(GOOD, **GOOD_POD)),
        ("restricted", pod({**GOOD, **GOOD_POD["securityContext"]})),
        ("restricted", pod({"runAsNonRoot": True}, os={"name": "windows"})),
        (
            "restricted",
            pod(
                {**GOOD, "runAsUser": 0},
                hostUsers=False,
                securityContext={"seccompProfile": {"type": "Localhost"}},
                volumes=[{"name": "v", "image": {}}],
            ),
        ),
    ],
)
def test_a_pod_within_the_standard_passes_in_silence(level, obj):
    rig = rig_of(enforce=level, warn=level)

    request = rig.admit(rig.request("CREATE", PODS, obj))

    assert request.warnings == []
    assert request.annotations == {f"{LABEL}enforce-policy": f"{level}:latest"}


def test_an_older_standard_knows_fewer_rules_and_fewer_exceptions():
    probing = pod(containers=[{"name": "c", "livenessProbe": {"tcpSocket": {"host": "h"}}}])
    tuned = pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_rmem"}]})
    rig = rig_of(enforce="baseline", enforce_version="v1.31")

    rig.create(PODS, probing)

    assert refusal(rig, tuned) == 'violates PodSecurity "baseline:v1.31": forbidden sysctls (net.ipv4.tcp_rmem)'


def test_before_fields_seccomp_was_an_annotation():
    rig = rig_of(enforce="baseline", enforce_version="v1.18")
    noted = pod(annotations={"seccomp.security.alpha.kubernetes.io/pod": "unconfined"})

    assert refusal(rig, noted).endswith(
        'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'
    )


def test_warn_and_audit_let_the_pod_pass_and_tell():
    rig = rig_of(audit="baseline", warn="baseline")

    request = rig.admit(rig.request("CREATE", PODS, pod(hostIPC=True)))

    text = 'would violate PodSecurity "baseline:latest": host namespaces (hostIPC=true)'
    assert request.warnings == [text]
    assert request.annotations[f"{LABEL}audit-violations"] == text


def test_a_refused_pod_is_not_warned_about_too():
    rig = rig_of(enforce="baseline", warn="restricted")
    request = rig.request("CREATE", PODS, pod(hostIPC=True))

    with pytest.raises(Forbidden):
        rig.admit(request)

    assert request.warnings == []


def test_a_workload_is_warned_about_but_never_refused():
    rig = rig_of(enforce="baseline", warn="baseline")
    template = {"spec": pod(hostPID=True)["spec"]}
    deployment = {"metadata": {"name": "d", "namespace": "ns"}, "spec": {"template": template}}
    cron = {"metadata": {"name": "d", "namespace": "ns"}, "spec": {"jobTemplate": {"spec": {"template": template}}}}

    for resource, obj in ((DEPLOYMENTS, deployment), (CRON_JOBS, cron)):
        request = rig.admit(rig.request("CREATE", resource, obj))

        assert request.warnings == ['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)']


def test_an_update_is_judged_only_when_it_brings_something_new():
    rig = rig_of(enforce="baseline")
    old, same, new = (pod({"privileged": True}) for _ in range(3))
    same["metadata"]["labels"] = {"a": "b"}
    new["spec"]["containers"][0]["image"] = "other"

    rig.update(PODS, old, same)

    with pytest.raises(Forbidden):
        rig.update(PODS, old, new)


def test_an_ephemeral_container_is_held_against_the_standard():
    rig = rig_of(enforce="baseline")
    old, new = pod(), pod(ephemeralContainers=[{"name": "debug", "securityContext": {"privileged": True}}])

    with pytest.raises(Forbidden, match="debug"):
        rig.update(PODS, old, new, subresource="ephemeralcontainers")

    rig.update(PODS, old, new, subresource="status")


def test_labels_that_mean_nothing_are_refused():
    rig = rig_of()

    with pytest.raises(Invalid) as caught:
        rig.create(NAMESPACES, namespace("n", enforce="strict", warn_version="1.30"))

    assert caught.value.message == (
        'Namespace "n" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": '
        "must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: "
        'Invalid value: "1.30": must be "latest" or "v1.x"]'
    )


def test_a_namespace_may_keep_labels_that_mean_nothing_and_then_gets_the_strictest():
    rig = rig_of(enforce="strict")

    rig.update(NAMESPACES, namespace(enforce="strict"), namespace(enforce="strict", other="x"))
    request = rig.request("CREATE", PODS, pod())

    with pytest.raises(Forbidden, match="restricted:latest"):
        rig.admit(request)
    assert request.annotations[f"{LABEL}error"].startswith("Failed to parse policy: metadata.labels[")


def test_a_stricter_namespace_names_the_pods_that_would_not_have_come_in():
    rig = rig_of()
    rig.client.seed(
        PODS,
        *(pod({"privileged": True}, name=name) for name in ("b", "a", "c")),
        pod(name="host", hostPID=True),
        pod(name="good"),
    )

    request = rig.admit(rig.request("UPDATE", NAMESPACES, namespace(enforce="baseline"), namespace()))

    assert request.warnings == [
        'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
        "a (and 2 other pods): privileged",
        "host: host namespaces",
    ]


def test_a_looser_namespace_says_nothing():
    rig = rig_of()
    rig.client.seed(PODS, pod({"privileged": True}))

    request = rig.admit(
        rig.request("UPDATE", NAMESPACES, namespace(enforce="baseline"), namespace(enforce="restricted"))
    )

    assert request.warnings == []


def test_not_all_pods_of_a_huge_namespace_are_looked_at(monkeypatch):
    monkeypatch.setattr("hyperkube_admission.pod_security.MOST_PODS", 1)
    assert MOST_PODS == 3000
    rig = rig_of()
    rig.client.seed(PODS, pod(name="a"), pod(name="b"))

    request = rig.admit(rig.request("UPDATE", NAMESPACES, namespace(enforce="baseline"), namespace()))

    assert request.warnings == ["new PodSecurity enforce level only checked against the first 1 of 2 existing pods"]


@pytest.mark.parametrize(
    ("exemptions", "note"),
    [
        ({"namespaces": ["ns"]}, "namespace"),
        ({"usernames": ["alice"]}, "user"),
        ({"runtimeClasses": ["kata"]}, "runtimeClass"),
    ],
)
def test_the_exempt_are_let_alone(exemptions, note):
    rig = rig_of({"exemptions": exemptions}, enforce="restricted")

    request = rig.admit(rig.request("CREATE", PODS, pod({"privileged": True}, runtimeClassName="kata")))

    assert request.annotations[f"{LABEL}exempt"] == note


def test_the_settings_say_what_holds_without_labels():
    rig = rig_of({"defaults": {"enforce": "baseline", "enforce-version": "v1.30"}})

    assert refusal(rig, pod(hostPID=True)).startswith('violates PodSecurity "baseline:v1.30"')


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"defaults": {"enforce": "none"}}, "must be one of"),
        ({"exemptions": {"groups": []}}, "unknown exemption 'groups'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, text):
    with pytest.raises(UsageError, match=text):
        rig_of(settings)


def test_a_pod_without_a_namespace_is_a_server_error():
    rig = AdmissionRig(PodSecurity)
    rig.informers.refresh()

    with pytest.raises(InternalError, match='failed to lookup namespace "ns"'):
        rig.create(PODS, pod())
