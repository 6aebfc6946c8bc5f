"""Warnings for the volumes of pods."""

import pytest
from hyperkube_api.core.pods.warnings import pod_warnings

FRACTION = 'fractional byte value "4m" is invalid, must be an integer'


def volume(**source):
    return {"volumes": [{"name": "v", **source}]}


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        (volume(photonPersistentDisk={}), ["photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"]),
        (volume(gitRepo={}), ["gitRepo: deprecated in v1.11, and disabled by default in v1.33+"]),
        (volume(scaleIO={}), ["scaleIO: deprecated in v1.16, non-functional in v1.22+"]),
        (volume(flocker={}), ["flocker: deprecated in v1.22, non-functional in v1.25+"]),
        (volume(storageos={}), ["storageOS: deprecated in v1.22, non-functional in v1.25+"]),
        (volume(quobyte={}), ["quobyte: deprecated in v1.22, non-functional in v1.25+"]),
        (volume(glusterfs={}), ["glusterfs: deprecated in v1.25, non-functional in v1.26+"]),
        (volume(cephfs={}), ["cephfs: deprecated in v1.28, non-functional in v1.31+"]),
        (volume(rbd={}), ["rbd: deprecated in v1.28, non-functional in v1.31+"]),
        (volume(ephemeral={"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "200Mi"}}}}}), []),
        (
            volume(ephemeral={"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "4m"}}}}}),
            [f"ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: {FRACTION}"],
        ),
        (volume(emptyDir={}), []),
    ],
)
def test_volumes_whose_driver_is_gone(spec, texts):
    assert pod_warnings({"spec": spec}, None) == [f"spec.volumes[0].{text}" for text in texts]


def items(*paths, **more):
    return {**more, "items": [{"key": "k", "path": path} for path in paths]}


TOKEN = {"serviceAccountToken": {"path": "test"}}


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ({"configMap": items("test", "test", name="foo")}, ['(ConfigMap "foo"): overlapping paths: "test" with "test"']),
        ({"configMap": items("test", "test/app", name="foo")},
         ['(ConfigMap "foo"): overlapping paths: "test/app" with "test"']),
        ({"configMap": items("test/app", "test", name="foo")},
         ['(ConfigMap "foo"): overlapping paths: "test" with "test/app"']),
        ({"secret": items("test", "test/", secretName="foo")},
         ['(Secret "foo"): overlapping paths: "test" with "test"']),
        ({"secret": items("test", "tester", "", "")}, []),
        ({"downwardAPI": items("test", "test")}, ['(DownwardAPI): overlapping paths: "test" with "test"']),
        ({"configMap": items("dir/1", "dir/2", "dir", name="foo")},
         ['(ConfigMap "foo"): overlapping paths: "dir" with "dir/1"',
          '(ConfigMap "foo"): overlapping paths: "dir" with "dir/2"']),
        ({"projected": {"sources": [{"configMap": items("test", name="c")}, TOKEN]}},
         ['(Projected): overlapping paths: "test" (ServiceAccountToken) with "test" (ConfigMap "c")']),
        ({"projected": {"sources": [{"secret": items("test/file", name="s")}, TOKEN]}},
         ['(Projected): overlapping paths: "test" (ServiceAccountToken) with "test/file" (Secret "s")']),
        ({"projected": {"sources": [TOKEN, {"downwardAPI": items("test")}]}},
         ['(Projected): overlapping paths: "test" (DownwardAPI) with "test" (ServiceAccountToken)']),
        ({"projected": {"sources": [{"clusterTrustBundle": {"name": "b", "path": "test"}}, TOKEN]}},
         ['(Projected): overlapping paths: "test" (ServiceAccountToken) with "test" (ClusterTrustBundle "b")']),
        ({"projected": {"sources": [{"clusterTrustBundle": {"signerName": "n", "path": "test"}}, TOKEN]}},
         ['(Projected): overlapping paths: "test" (ServiceAccountToken) with "test" (ClusterTrustBundle "n")']),
        ({"projected": {"sources": [{"podCertificate": {"keyPath": "test", "certificateChainPath": "x"}}, TOKEN]}},
         ['(Projected): overlapping paths: "test" (ServiceAccountToken) with "test" (PodCertificate key)']),
        ({"projected": {"sources": [{"secret": {"name": "all"}}, TOKEN]}}, []),
        ({"projected": {"sources": [{}]}}, ["(Projected) has no sources provided"]),
        ({"projected": {"sources": []}}, []),
    ],
)  # fmt: skip
def test_files_that_would_lie_on_one_another(source, texts):
    assert pod_warnings({"spec": volume(**source)}, None) == [f'volume "v" {text}' for text in texts]
