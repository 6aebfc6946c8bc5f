"""What a file may say and not be believed: no API server has read it."""

import orjson
import pytest
from hyperkube_host.kubelet.config.manifest_shape import read_manifest
from hyperkube_host.kubelet.config.manifest_source import ManifestSource

from hyperkube.machinery.clock import FakeClock

C = {"name": "c", "image": "i"}
IN_POD = [
    ({"containers": []}, "spec.containers: Required value"),
    ({"containers": ["c"]}, r"spec.containers\[0\]: Invalid value: 'c': must be a table"),
    ({"containers": [C, C]}, r"spec.containers\[1\].name: Duplicate value: 'c'"),
    ({"containers": [{"name": "../c"}]}, r"spec.containers\[0\].name: Invalid value: '../c': a lowercase RFC 1123"),
    ({"containers": [{"image": "i"}]}, r"spec.containers\[0\].name: Invalid value: None: Required value"),
    ({"initContainers": [{"name": "a/b"}]}, "Invalid value: 'a/b'"),
    ({"volumes": [{"name": "..", "emptyDir": {}}]}, r"spec.volumes\[0\].name"),
    ({"volumes": "v"}, "spec.volumes: Invalid value: 'v': must be a list"),
    ({"volumes": [{"name": "v", "emptyDir": 7}]}, r"spec.volumes\[0\].emptyDir: Invalid value: 7: must be a table"),
    ({"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {}}]}, "may not specify more than 1 volume type"),
    ({"terminationGracePeriodSeconds": "soon"}, "terminationGracePeriodSeconds: Invalid value: 'soon'"),
    ({"terminationGracePeriodSeconds": -1}, "must be a whole number, 0 or more"),
    ({"activeDeadlineSeconds": True}, "activeDeadlineSeconds: Invalid value: True: must be a whole number"),
    ({"restartPolicy": "Sometimes"}, "must be one of Always, OnFailure, Never"),
    ({"hostNetwork": "maybe"}, "hostNetwork: Invalid value: 'maybe': must be true or false"),
    ({"nodeSelector": [1]}, "nodeSelector: .* must be a table"),
    ({"tolerations": 7}, "tolerations: .* must be a list"),
    ({"affinity": {"nodeAffinity": 7}}, "affinity.nodeAffinity: .* must be a table"),
    ({"securityContext": "root"}, "securityContext: .* must be a table"),
    ({"priority": "high"}, "priority: .* must be a whole number"),
]
IN_CONTAINER = [
    ({"image": 7}, "image: Invalid value: 7: must be a text"),
    ({"command": "sh -c"}, "command: .* must be a list"),
    ({"args": [1]}, r"args\[0\]: Invalid value: 1: must be a text"),
    ({"env": [{"name": "A", "value": 7}]}, r"env\[0\].value: Invalid value: 7"),
    ({"ports": [{"containerPort": "http"}]}, r"ports\[0\].containerPort"),
    ({"resources": {"limits": {"cpu": "lots"}}}, "resources.limits.cpu: Invalid value: 'lots': must be a quantity"),
    ({"resources": [1]}, "resources: .* must be a table"),
    ({"livenessProbe": {"httpGet": {"port": []}}}, r"livenessProbe.httpGet.port: Invalid value: \[\]"),
    ({"lifecycle": 7}, "lifecycle: .* must be a table"),
    ({"volumeMounts": [{"name": "nope", "mountPath": "/x"}]}, r"volumeMounts\[0\].name: Not found: 'nope'"),
]
METADATA = [
    ({"name": "../../etc"}, "metadata.name: Invalid value"),
    ({"name": 7}, "metadata.name: Invalid value: 7: must be a text"),
    ({"name": "p", "namespace": "a/b"}, "metadata.namespace"),
    ({"name": "p", "uid": "../u"}, "metadata.uid: Invalid value: '../u'"),
    ({"name": "p", "labels": 7}, "metadata.labels: .* must be a table"),
    ({"name": "p", "annotations": {"a": 1}}, "metadata.annotations.a: Invalid value: 1: must be a text"),
]


def manifest(metadata=None, **spec):
    return {"kind": "Pod", "metadata": metadata or {"name": "p"}, "spec": {"containers": [C], **spec}}


@pytest.mark.parametrize(("spec", "says"), IN_POD)
def test_fields_of_a_pod_have_their_types(spec, says):
    with pytest.raises(ValueError, match=says):
        read_manifest(manifest(**spec))


@pytest.mark.parametrize(("fields", "says"), IN_CONTAINER)
def test_fields_of_a_container_have_their_types(fields, says):
    with pytest.raises(ValueError, match=says):
        read_manifest(manifest(containers=[{**C, **fields}]))


@pytest.mark.parametrize(("metadata", "says"), METADATA)
def test_names_labels_and_annotations_are_texts(metadata, says):
    with pytest.raises(ValueError, match=says):
        read_manifest(manifest(metadata))


def test_nulls_are_as_good_as_absent_and_unknown_fields_stay():
    given = manifest(terminationGracePeriodSeconds=None, volumes=[{"name": "v", "configMap": None}], newField=[None])

    _, spec = read_manifest(given)

    assert spec == {"containers": [C], "volumes": [{"name": "v", "emptyDir": {}}], "newField": [None]}
    assert given["spec"]["volumes"][0] == {"name": "v", "configMap": None}


def test_what_is_refused_is_one_line_and_hides_no_other_pod(caplog):
    told = []

    class Sink:
        def put(self, pod):
            told.append(pod["metadata"]["name"])

    bad = [manifest(**spec) for spec, _ in IN_POD] + [manifest(metadata) for metadata, _ in METADATA]
    files = [(f"{index}.json", orjson.dumps(one)) for index, one in enumerate(bad)]
    files.append(("good.json", orjson.dumps(manifest())))

    ManifestSource("file", lambda: files, 20, "n1", FakeClock(), Sink()).read_once()

    assert told == ["p-n1"]
    assert len(caplog.records) == len(bad)
    assert caplog.records[0].getMessage() == "manifest 0.json is no pod: spec.containers: Required value"
