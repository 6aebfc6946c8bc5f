"""Warnings for what pods and templates say."""

import pytest
from hyperkube_api.core.pod_specs.warnings import template_warnings
from hyperkube_api.core.pods.app_armor import app_armor_warning
from hyperkube_api.core.pods.defaults import default_pod
from hyperkube_api.core.pods.warnings import pod_warnings


def a_pod(**spec):
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "creationTimestamp": "2026-01-01T11:58:00Z"},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.25", "resources": {}}], **spec},
        "status": {},
    }
    default_pod(made)
    return made


def test_deprecated_labels_are_warned_of_once_the_pod_is_made():
    pod = a_pod(nodeSelector={"beta.kubernetes.io/os": "linux"})

    assert pod_warnings(pod, None) == [
        'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'
    ]
    assert pod_warnings(pod, pod) == []


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NOWHERE = "a null labelSelector results in matching no pod"
SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
OLD_ARCH = 'deprecated since v1.14; use "kubernetes.io/arch" instead'
OLD_ZONE = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
NO_LABEL = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

FRACTION = 'fractional byte value "4m" is invalid, must be an integer'
AMOUNTS = {"cpu": "100m", "memory": "4m", "ephemeral-storage": "4m"}
RESOURCES = {"requests": AMOUNTS, "limits": AMOUNTS}
CRITICAL = "scheduler.alpha.kubernetes.io/critical-pod"


def term(key, *values):
    return {"matchExpressions": [{"key": "foo"}, {"key": key, "values": list(values)}]}


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        ({"hostAliases": [{"ip": "1.1.1.1"}] * 3},
         ['hostAliases[1].ip: duplicate ip "1.1.1.1"', 'hostAliases[2].ip: duplicate ip "1.1.1.1"']),
        ({"imagePullSecrets": [{"name": "a"}, {"name": "b"}, {"name": "a"}]},
         ['imagePullSecrets[2].name: duplicate name "a"']),
        ({"imagePullSecrets": [{"name": ""}]}, ['imagePullSecrets[0].name: invalid empty name ""']),
        ({"imagePullSecrets": [{}, {}]},
         ['imagePullSecrets[1].name: duplicate name ""', 'imagePullSecrets[0].name: invalid empty name ""',
          'imagePullSecrets[1].name: invalid empty name ""']),
        ({"overhead": AMOUNTS}, [f"overhead[memory]: {FRACTION}", f"overhead[ephemeral-storage]: {FRACTION}"]),
        ({"terminationGracePeriodSeconds": -1},
         ["terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"]),
        ({"nodeSelector": {"beta.kubernetes.io/arch": "x", "kubernetes.io/os": "y"}},
         [f"nodeSelector[beta.kubernetes.io/arch]: {OLD_ARCH}"]),
        ({"nodeSelector": {"node-role.kubernetes.io/master": "", "app.kubernetes.io/created-by": ""}},
         ["nodeSelector[app.kubernetes.io/created-by]: deprecated since v1.9",
          'nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead']),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term("beta.kubernetes.io/arch", "-1")]}}}},
         [(f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[1].key: "
          f"beta.kubernetes.io/arch is {OLD_ARCH}")]),
        ({"affinity": {"nodeAffinity": {PREFERRED: [{"preference": term("beta.kubernetes.io/arch")}]}}},
         [(f"affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[1].key: "
          f"beta.kubernetes.io/arch is {OLD_ARCH}")]),
        ({"affinity": {"nodeAffinity": {PREFERRED: [{"preference": term("bar", "fine", "-1")}]}}},
         [(f"affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[1].values[1]: "
          f"-1 is invalid, {NO_LABEL}")]),
        ({"topologySpreadConstraints": [{"topologyKey": "foo", "labelSelector": {}},
                                        {"topologyKey": "failure-domain.beta.kubernetes.io/zone"}]},
         ["topologySpreadConstraints[1].topologyKey: failure-domain.beta.kubernetes.io/zone is " + OLD_ZONE,
          f"topologySpreadConstraints[1].labelSelector: {NOWHERE}"]),
        ({"affinity": {"podAffinity": {REQUIRED: [{"labelSelector": {}}, {}]},
                       "podAntiAffinity": {PREFERRED: [{"podAffinityTerm": {"labelSelector": {}}}, {}]}}},
         [f"affinity.podAffinity.{REQUIRED}[1].labelSelector: {NOWHERE}",
          f"affinity.podAntiAffinity.{PREFERRED}[1].podAffinityTerm.labelSelector: {NOWHERE}"]),
        ({"dnsConfig": {"nameservers": ["1.2.3.4", "05.06.07.08"]}, "hostAliases": [{"ip": "::ffff:1.2.3.4"}]},
         ['dnsConfig.nameservers[1]: non-standard IP address "05.06.07.08" is invalid: use "5.6.7.8"',
          'hostAliases[0].ip: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"']),
    ],
)  # fmt: skip
def test_a_specification_that_is_allowed_and_unwise(spec, texts):
    assert pod_warnings({"spec": spec}, None) == [f"spec.{text}" for text in texts]
    assert template_warnings({"spec": spec}, "spec.template", None) == [f"spec.template.spec.{text}" for text in texts]


def test_amounts_of_each_container_are_whole_bytes():
    container = {"name": "c", "resources": RESOURCES}
    spec = {"initContainers": [container], "containers": [container]}

    assert pod_warnings({"spec": spec}, None) == [
        f"spec.{member}[0].resources.{side}[{name}]: {FRACTION}"
        for member in ("initContainers", "containers")
        for name in ("memory", "ephemeral-storage")
        for side in ("limits", "requests")
    ]


@pytest.mark.parametrize("member", ["initContainers", "containers", "ephemeralContainers"])
def test_a_variable_that_hides_another(member):
    values = [
        {"value": "a"},
        {"value": "a"},
        {"value": ""},
        {"value": "$(a)"},
        {"valueFrom": {}},
        {"value": "$(a) $(a)"},
    ]
    variables = [{"name": "a", **value} for value in values]

    assert pod_warnings({"spec": {member: [{"name": "c", "env": variables}]}}, None) == [
        f'spec.{member}[0].env[{index}]: hides previous definition of "a", which may be dropped when using apply'
        for index in (1, 2, 3, 4)
    ]


def port(number=80, protocol="UDP", **more):
    return {"containerPort": number, "protocol": protocol, **more}


NO_HOST_PORT = "hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:UDP HostIP:10.0.0.1}"


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        (port(), port(81), ""),
        (port(), port(protocol="TCP"), ""),
        (port(hostPort=80), port(hostPort=81), ""),
        (port(hostPort=80, hostIP="10.0.0.1"), port(hostPort=80, hostIP="10.0.0.2"), ""),
        (port(), port(), "duplicate"),
        (port(hostPort=80), port(hostPort=80), "duplicate"),
        (port(hostPort=80, hostIP="10.0.0.1"), port(hostPort=80, hostIP="10.0.0.1"), "duplicate"),
        (port(hostPort=80), port(), "overlapping"),
        (port(hostPort=80), port(hostPort=80, hostIP="10.0.0.1"), "dangerously ambiguous"),
        (port(hostPort=80, hostIP="10.0.0.1"), port(hostPort=80), "dangerously ambiguous"),
    ],
)
def test_ports_that_collide(one, other, text):
    within = {"containers": [{"name": "c", "ports": [one, other]}]}
    between = {"initContainers": [{"name": "c", "ports": [one]}], "containers": [{"name": "d", "ports": [other]}]}
    said = f"{text} port definition with spec."

    assert pod_warnings({"spec": within}, None) == (
        [f"spec.containers[0].ports[1]: {said}containers[0].ports[0]"] if text else []
    )
    assert pod_warnings({"spec": between}, None) == (
        [f"spec.containers[0].ports[0]: {said}initContainers[0].ports[0]"] if text else []
    )


def test_a_port_is_compared_with_all_before_it():
    ports = [port(hostPort=80), port(180, hostPort=80), port(hostPort=80)]
    spec = {"containers": [{"name": "c", "ports": ports}, {"name": "d", "ports": [port(hostPort=80)]}]}

    assert pod_warnings({"spec": spec}, None) == [
        "spec.containers[0].ports[2]: duplicate port definition with spec.containers[0].ports[0]",
        "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
        "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[2]",
    ]


def test_a_host_address_needs_a_host_port():
    ports = [port(hostPort=80, hostIP="10.0.0.1"), port(hostIP="10.0.0.1")]

    assert pod_warnings({"spec": {"containers": [{"name": "c", "ports": ports}]}}, None) == [
        f"spec.containers[0].ports[1]: {NO_HOST_PORT}",
        "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
    ]


def test_a_name_of_two_ports_is_the_first_ones():
    first = {"name": "c", "restartPolicy": "Always", "ports": [port(80, name="test")]}
    spec = {"initContainers": [first], "containers": [{"name": "d", "ports": [port(81), port(82, name="test")]}]}

    assert pod_warnings({"spec": spec}, None) == [
        (
            'spec.containers[0].ports[1]: duplicate port name "test" with spec.initContainers[0].ports[0], '
            "services and probes that select ports by name will use spec.initContainers[0].ports[0]"
        )
    ]


CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/foo"
PROFILE = {"seccompProfile": {"type": "RuntimeDefault"}, "appArmorProfile": {"type": "Unconfined"}}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (CRITICAL, 'non-functional in v1.16+; use the "priorityClassName" field instead'),
        ("security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'),
        ("security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'),
        ("seccomp.security.alpha.kubernetes.io/pod", SECCOMP),
        (CONTAINER_SECCOMP, SECCOMP),
        ("container.seccomp.security.alpha.kubernetes.io/bar", None),
        ("foo", None),
    ],
)
def test_annotations_that_became_fields(key, text):
    pod = {"metadata": {"annotations": {key: "x"}}, "spec": {"containers": [{"name": "foo"}]}}

    assert pod_warnings(pod, None) == ([f"metadata.annotations[{key}]: {text}"] if text else [])


@pytest.mark.parametrize("key", ["seccomp.security.alpha.kubernetes.io/pod", CONTAINER_SECCOMP])
def test_an_annotation_beside_its_field_is_fine(key):
    spec = {"securityContext": PROFILE, "containers": [{"name": "foo", "securityContext": PROFILE}]}

    assert pod_warnings({"metadata": {"annotations": {key: "x"}}, "spec": spec}, None) == []


@pytest.mark.parametrize(
    ("whole", "own", "warned"), [(None, None, True), (PROFILE, None, False), (None, PROFILE, False)]
)
def test_a_template_is_warned_of_an_app_armor_annotation_without_a_field(whole, own, warned):
    spec = {"securityContext": whole, "containers": [{"name": "foo", "securityContext": own}]}
    template = {"metadata": {"annotations": {APP_ARMOR + "foo": "unconfined"}}, "spec": spec}
    text = f'metadata.annotations[{APP_ARMOR}foo]: deprecated since v1.30; use the "appArmorProfile" field instead'

    assert template_warnings(template, "template", None) == ([f"template.{text}"] if warned else [])
    assert pod_warnings(template, None) == []
    assert app_armor_warning("foo") == text
