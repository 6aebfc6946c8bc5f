"""PodSecurityPolicy: what policies fill in, what they forbid, and which of several counts."""

import pytest
from hyperkube_admission.pod_security_policy import POLICIES, VALIDATED, PodSecurityPolicy
from hyperkube_admission.pod_security_policy.checks import check
from hyperkube_admission.pod_security_policy.defaults import fill_in

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Forbidden, UsageError
from hyperkube.machinery.objects import copy_object
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

SERVED = {"runtime_config": {"policy/v1beta1": "true"}}
ANY = {"rule": "RunAsAny"}
OPEN = {"seLinux": ANY, "runAsUser": ANY, "supplementalGroups": ANY, "fsGroup": ANY, "volumes": ["*"],
        "allowPrivilegeEscalation": True}  # fmt: skip
HIGH = [{"min": 1000, "max": 2000}]


def policy(name="p", **changed):
    return {"metadata": {"name": name}, "spec": {**OPEN, **changed}}


def pod(container=None, **spec):
    return {
        "metadata": {"name": "pod", "namespace": "ns"},
        "spec": {"containers": [{"name": "c", **(container or {})}], **spec},
    }


def secure(**context):
    return pod({"securityContext": context})


def rig(*policies, **more):
    made = AdmissionRig(PodSecurityPolicy, settings=SERVED, **more)
    made.seed(POLICIES, *policies)
    return made


class TestPromises(AdmissionContract):
    plugin = PodSecurityPolicy
    settings = SERVED

    def populate(self, rig):
        rig.client.seed(POLICIES, policy(runAsUser={"rule": "MustRunAs", "ranges": HIGH}))

    def concerned(self, rig):
        return [rig.request("CREATE", PODS, pod()), rig.request("CREATE", PODS, secure(runAsUser=1))]


def test_a_policy_fills_in_what_a_pod_leaves_open():
    group = {"rule": "MustRunAs", "ranges": [{"min": 7, "max": 9}]}
    rules = policy(
        runAsUser={"rule": "MustRunAs", "ranges": HIGH}, runAsGroup=group, fsGroup=group, supplementalGroups=group,
        seLinux={"rule": "MustRunAs", "seLinuxOptions": {"level": "s0"}}, defaultAddCapabilities=["A"],
        requiredDropCapabilities=["B"], readOnlyRootFilesystem=True, allowPrivilegeEscalation=False,
        runtimeClass={"allowedRuntimeClassNames": ["*"], "defaultRuntimeClassName": "r"},
    )  # fmt: skip

    made = rig(rules).create(PODS, pod())

    assert made["spec"]["securityContext"] == {
        "supplementalGroups": [7], "fsGroup": 7, "seLinuxOptions": {"level": "s0"}}  # fmt: skip
    assert made["spec"]["containers"][0]["securityContext"] == {
        "runAsUser": 1000, "runAsGroup": 7, "capabilities": {"add": ["A"], "drop": ["B"]},
        "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}  # fmt: skip
    assert made["spec"]["runtimeClassName"] == "r"
    assert made["metadata"]["annotations"] == {VALIDATED: "p"}


def test_a_policy_without_root_marks_containers():
    made = rig(policy(runAsUser={"rule": "MustRunAsNonRoot"})).create(PODS, pod())

    assert made["spec"]["containers"][0]["securityContext"] == {"runAsNonRoot": True}


USER = {"rule": "MustRunAs", "ranges": HIGH}
NOT_ALLOWED = [
    (policy(runAsUser=USER), secure(runAsUser=5),
     "spec.containers[0].securityContext.runAsUser: Invalid value: 5: must be in the ranges: [{1000 2000}]"),
    (policy(runAsUser={"rule": "MustRunAsNonRoot"}), secure(runAsUser=0),
     "spec.containers[0].securityContext.runAsUser: Invalid value: 0: running with the root UID is forbidden"),
    (policy(runAsUser={"rule": "MustRunAsNonRoot"}), secure(runAsNonRoot=False),
     "spec.containers[0].securityContext.runAsNonRoot: Invalid value: false: must be true"),
    (policy(), secure(privileged=True),
     "spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed"),
    (policy(allowPrivilegeEscalation=False), secure(allowPrivilegeEscalation=True),
     ("spec.containers[0].securityContext.allowPrivilegeEscalation: Invalid value: true: "
     "Allowing privilege escalation for containers is not allowed")),
    (policy(readOnlyRootFilesystem=True), secure(readOnlyRootFilesystem=False),
     ("spec.containers[0].securityContext.readOnlyRootFilesystem: Invalid value: false: "
     "ReadOnlyRootFilesystem must be set to true")),
    (policy(), secure(capabilities={"add": ["NET_ADMIN"]}),
     'spec.containers[0].securityContext.capabilities.add: Invalid value: "NET_ADMIN": capability may not be added'),
    (policy(), secure(procMount="Unmasked"),
     'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": ProcMountType is not allowed'),
    (policy(), pod(hostNetwork=True),
     "spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used"),
    (policy(), pod(hostPID=True), "spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used"),
    (policy(hostPorts=[{"min": 80, "max": 80}, {"min": 1, "max": 9}]), pod({"ports": [{"hostPort": 22}]}),
     "spec.containers[0].hostPort: Invalid value: 22: Host port 22 is not allowed to be used. Allowed ports: [80,1-9]"),
    (policy(volumes=["secret"]), pod(volumes=[{"name": "v", "emptyDir": {}}]),
     'spec.volumes[0]: Invalid value: "emptyDir": emptyDir volumes are not allowed to be used'),
    (policy(allowedHostPaths=[{"pathPrefix": "/foo"}]), pod(volumes=[{"name": "v", "hostPath": {"path": "/food"}}]),
     'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/food": is not allowed to be used'),
    (policy(allowedHostPaths=[{"pathPrefix": "/foo", "readOnly": True}]),
     pod({"volumeMounts": [{"name": "v"}]}, volumes=[{"name": "v", "hostPath": {"path": "/foo/bar"}}]),
     "spec.containers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only"),
    (policy(allowedFlexVolumes=[{"driver": "a/b"}]), pod(volumes=[{"name": "v", "flexVolume": {"driver": "x/y"}}]),
     'spec.volumes[0].driver: Invalid value: "x/y": Flexvolume driver is not allowed to be used'),
    (policy(allowedCSIDrivers=[{"name": "a"}]), pod(volumes=[{"name": "v", "csi": {"driver": "x"}}]),
     'spec.volumes[0].csi.driver: Invalid value: "x": Inline CSI driver is not allowed to be used'),
    (policy(fsGroup=USER), pod(securityContext={"fsGroup": 3}),
     "spec.securityContext.fsGroup: Invalid value: [3]: group 3 must be in the ranges: [{1000 2000}]"),
    (policy(seLinux={"rule": "MustRunAs", "seLinuxOptions": {"level": "s0"}}),
     pod(securityContext={"seLinuxOptions": {"level": "s1"}}),
     'spec.securityContext.seLinuxOptions.level: Invalid value: "s1": must be s0'),
    (policy(), pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
     'pod.spec.securityContext.sysctls[0]: Forbidden: unsafe sysctl "kernel.msgmax" is not allowed'),
    (policy(forbiddenSysctls=["net.*"]), pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies"}]}),
     'pod.spec.securityContext.sysctls[0]: Forbidden: sysctl "net.ipv4.tcp_syncookies" is not allowed'),
    (policy(runtimeClass={"allowedRuntimeClassNames": ["a"]}), pod(runtimeClassName="b"),
     'spec.runtimeClassName: Invalid value: "b"'),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "written", "text"), NOT_ALLOWED, ids=[text[:60] for *_, text in NOT_ALLOWED])
def test_these_are_not_allowed(rules, written, text):
    with pytest.raises(Forbidden) as refusal:
        rig(rules).create(PODS, written)

    assert refusal.value.message.startswith("PodSecurityPolicy: unable to admit pod: [")
    assert text in refusal.value.message


@pytest.mark.parametrize(
    ("rules", "written"),
    [
        (policy(privileged=True), secure(privileged=True)),
        (policy(allowedCapabilities=["*"]), secure(capabilities={"add": ["NET_ADMIN"]})),
        (policy(volumes=["secret"]), pod(volumes=[{"name": "t", "projected": {"sources": [
            {"serviceAccountToken": {}}, {"configMap": {}}, {"downwardAPI": {}}]}}])),
        (policy(allowedHostPaths=[{"pathPrefix": "/foo"}]), pod(volumes=[{"name": "v", "hostPath": {"path": "/foo/x"}}])),
        (policy(allowedUnsafeSysctls=["kernel.msg*"]), pod(securityContext={"sysctls": [{"name": "kernel.msgmax"}]})),
        (policy(fsGroup={"rule": "MayRunAs", "ranges": HIGH}), pod()),
    ],
    ids=["privileged", "capabilities", "token", "path", "sysctl", "may"],
)  # fmt: skip
def test_these_are_allowed_as_they_are(rules, written):
    assert rig(rules).create(PODS, written)["spec"] == written["spec"]


def test_a_policy_that_changes_nothing_goes_before_one_that_does():
    world = rig(policy("a", runAsUser=USER), policy("b"))

    made = world.create(PODS, pod())

    assert made["metadata"]["annotations"] == {VALIDATED: "b"}
    assert made["spec"] == pod()["spec"]


def test_a_pod_whose_author_may_use_no_policy_is_refused():
    world = rig(policy(), allows=lambda verb, resource, _name: (verb, resource) != ("use", "podsecuritypolicies"))

    with pytest.raises(Forbidden, match="PodSecurityPolicy: no providers available to validate pod request"):
        world.create(PODS, pod())


def test_only_policies_that_may_be_used_count():
    world = rig(policy("a"), policy("b", privileged=True), allows=lambda _verb, _resource, name: name == "a")

    with pytest.raises(Forbidden, match="Privileged containers are not allowed"):
        world.create(PODS, secure(privileged=True))


def test_an_update_is_checked_but_not_completed():
    world = rig(policy(allowPrivilegeEscalation=False))
    old = secure(allowPrivilegeEscalation=False)
    new = copy_object(old)
    new["spec"]["containers"][0]["image"] = "other"

    assert world.update(PODS, old, new)["spec"] == new["spec"]
    new["spec"]["containers"][0]["securityContext"] = {"privileged": True, "allowPrivilegeEscalation": False}
    with pytest.raises(Forbidden, match="Privileged"):
        world.update(PODS, old, new)


def test_filling_in_twice_is_filling_in_once():
    rules = policy(runAsUser=USER, defaultAddCapabilities=["A"], readOnlyRootFilesystem=True)
    once = pod()
    fill_in(rules, once)
    twice = copy_object(once)
    fill_in(rules, twice)

    assert once == twice
    assert check(rules, once) == []


def test_it_says_that_its_api_must_be_served():
    with pytest.raises(UsageError, match="needs its API: --runtime-config=policy/v1beta1/podsecuritypolicies"):
        AdmissionRig(PodSecurityPolicy)
