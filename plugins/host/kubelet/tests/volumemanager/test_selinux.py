"""SELinux labels: which the files of containers have, which volumes are mounted with one, and what is labelled later.

No kernel with SELinux is needed: the node's files are a folder of the test's own.
"""

import pytest
from hyperkube_host.kubelet.volumemanager.actual_state import MountedForPod
from hyperkube_host.kubelet.volumemanager.mount_labels import MountLabels
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume, VolumeNotProcessed
from hyperkube_host.kubelet.volumemanager.selinux import Relabelling, SELinux

from hyperkube.hookspecs.volume import VolumeFailed, VolumeSpec

SELINUXFS = "30 25 0:20 / /sys/fs/selinux rw,nosuid - selinuxfs selinuxfs rw"
CONTEXTS = 'process = "system_u:system_r:container_t:s0"\n# of files\nfile = "system_u:object_r:container_file_t:s0"\n'
LABEL = "system_u:object_r:container_file_t:s0:c1,c2"
OPTIONS = {"level": "s0:c1,c2"}
OTHER = {"level": "s0:c3,c4"}


def node(folder, *mounts, current="system_u:system_r:kubelet_t:s0", **files):
    written = {"proc/self/mountinfo": "\n".join(mounts or (SELINUXFS,)), "proc/self/attr/current": f"{current}\n\0"}
    written |= files or {"usr/share/containers/selinux/contexts": CONTEXTS}
    for path, text in written.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return SELinux(folder)


def at(path, options="rw", number=40):
    return f"{number} 25 8:1 / {path} rw,relatime - ext4 /dev/sda {options}"


# what the node says


def test_a_node_without_selinux_has_no_labels(tmp_path):
    found = node(tmp_path, at("/"))

    assert (found.is_enabled, found.file_label(OPTIONS)) == (False, "")


def test_a_kernel_without_a_policy_labels_nothing(tmp_path):
    assert not node(tmp_path, current="kernel").is_enabled


@pytest.mark.parametrize(
    ("options", "label"),
    [
        (None, ""),
        ({}, ""),
        (OPTIONS, LABEL),
        ({**OPTIONS, "user": "u"}, "u:object_r:container_file_t:s0:c1,c2"),
        ({**OPTIONS, "role": "r", "type": "spc_t"}, LABEL),
        ({"type": "spc_t", "user": "u"}, ""),
    ],
    ids=["none", "empty", "level", "user", "a process' role and type are not its files'", "a level of chance"],
)
def test_the_label_of_a_containers_files(tmp_path, options, label):
    assert node(tmp_path).file_label(options) == label


def test_the_policys_own_file_is_read_where_containers_have_none(tmp_path):
    files = {
        "etc/selinux/config": "SELINUX=enforcing\nSELINUXTYPE=mls\n",
        "etc/selinux/mls/contexts/lxc_contexts": 'file = "a:b:c:s0"\n',
    }

    assert node(tmp_path, **files).file_label(OPTIONS) == "a:b:c:s0:c1,c2"


def test_a_policy_that_says_nothing_of_containers_gives_no_label(tmp_path):
    assert node(tmp_path, **{"etc/selinux/config": ""}).file_label(OPTIONS) == ""


@pytest.mark.parametrize(
    ("options", "label"),
    [
        (f'rw,seclabel,context="{LABEL}",errors=continue', LABEL),
        ("rw,context=u:r:t:s0,errors=continue", "u:r:t:s0"),
        ("rw,seclabel,rootcontext=u:r:t:s0", ""),
    ],
)
def test_what_is_mounted_tells_its_label(tmp_path, options, label):
    found = node(tmp_path, SELINUXFS, at("/m", options))

    assert (found.mounted_label("/m"), found.mounted_label("/other")) == (label, None)


# mounts


class Labelling:
    """A kind that mounts with labels."""

    supported = True

    def supports_selinux_context_mount(self, _spec):
        return self.supported


def volume(*modes, plugin=None, persistent=True):
    spec = {"name": "pv", "disk": {}, "accessModes": list(modes or ["ReadWriteOncePod"])}
    known = VolumeSpec(volume=spec, persistent_volume={"metadata": {"name": "pv"}} if persistent else None)
    return PodVolume(name="v", plugin_name="k", plugin=plugin or Labelling(), spec=known, unique_name="k/d1")


def container(options=None, mount="v"):
    context = {"securityContext": {"seLinuxOptions": options}} if options is not None else {}
    return {"name": "c", "volumeMounts": [{"name": mount}] if mount else [], **context}


def pod(*containers, shared=None, policy=None, init=(), ephemeral=()):
    context = {key: value for key, value in {"seLinuxOptions": shared, "seLinuxChangePolicy": policy}.items() if value}
    return {
        "metadata": {"uid": "1"},
        "spec": {
            "securityContext": context,
            "containers": [*containers] or [container()],
            "initContainers": [*init],
            "ephemeralContainers": [*ephemeral],
        },
    }


def labelled(selinux, wanted, known=None, *, all_modes=False, uid="1"):
    return MountLabels(selinux, all_modes=all_modes).labelled(wanted, uid, known or volume()).selinux_label


@pytest.mark.parametrize(
    ("wanted", "label"),
    [
        pytest.param(pod(), "", id="no options"),
        pytest.param(pod(shared=OPTIONS), LABEL, id="the pod's"),
        pytest.param(pod(container(OPTIONS)), LABEL, id="the container's"),
        pytest.param(pod(container(OPTIONS), shared=OTHER), LABEL, id="the container's before the pod's"),
        pytest.param(pod(container({}), shared=OPTIONS), "", id="a container without, in a pod with"),
        pytest.param(pod(container(OTHER, mount=""), container(OPTIONS)), LABEL, id="only of those that mount it"),
        pytest.param(pod(container(OPTIONS), container()), LABEL, id="containers without options do not count"),
        pytest.param(pod(container(mount=""), init=[container(OPTIONS)]), LABEL, id="an init container's"),
        pytest.param(pod(container(mount=""), ephemeral=[container(OPTIONS)]), LABEL, id="an ephemeral container's"),
        pytest.param(pod(shared=OPTIONS, policy="MountOption"), LABEL, id="by a mount option"),
        pytest.param(pod(shared=OPTIONS, policy="Recursive"), "", id="not where the pod opted out"),
    ],
)
def test_which_label_a_volume_is_mounted_with(tmp_path, wanted, label):
    assert labelled(node(tmp_path), wanted) == label


@pytest.mark.parametrize(
    ("known", "all_modes", "label"),
    [
        pytest.param(volume("ReadWriteOnce"), False, "", id="other modes: not without the gate"),
        pytest.param(volume("ReadWriteOncePod", "ReadWriteOnce"), False, "", id="two modes: neither"),
        pytest.param(volume("ReadWriteOnce"), True, LABEL, id="all modes with it"),
        pytest.param(volume(persistent=False), True, "", id="volumes of a pod: never"),
        pytest.param(volume(plugin=object()), True, "", id="kinds that cannot"),
    ],
)
def test_which_volumes_are_mounted_with_one(tmp_path, known, all_modes, label):
    assert labelled(node(tmp_path), pod(shared=OPTIONS), known, all_modes=all_modes) == label


def test_a_driver_may_say_that_it_does_not(tmp_path):
    plugin = Labelling()
    plugin.supported = False

    assert labelled(node(tmp_path), pod(shared=OPTIONS), volume(plugin=plugin)) == ""


def test_nothing_is_asked_where_the_node_has_no_selinux(tmp_path):
    known = volume(plugin=None)
    labels = MountLabels(node(tmp_path, at("/")), all_modes=True)

    assert labels.labelled(pod(container(OPTIONS), container(OTHER)), "1", known) is known
    labels.check_mounted(known, "/m")


def test_containers_that_want_two_labels_have_no_volume(tmp_path):
    other = "system_u:object_r:container_file_t:s0:c3,c4"

    with pytest.raises(VolumeNotProcessed, match=f"^multiple SELinux labels found: {LABEL},{other}$"):
        labelled(node(tmp_path), pod(container(OPTIONS), container(OTHER)))


def test_pods_that_run_at_a_time_need_one_label(tmp_path):
    labels = MountLabels(node(tmp_path), all_modes=True)
    labels.labelled(pod(shared=OPTIONS), "1", volume())
    assert labels.labelled(pod(shared=OPTIONS), "2", volume()).selinux_label == LABEL
    labels.forget("2")

    with pytest.raises(VolumeNotProcessed) as conflict:
        labels.labelled(pod(shared=OTHER), "3", volume())
    labels.pod_ended("1")
    with pytest.raises(VolumeNotProcessed) as waiting:
        labels.labelled(pod(shared=OTHER), "3", volume())
    labels.forget("1")
    later = labels.labelled(pod(shared=OTHER), "3", volume()).selinux_label

    other = "system_u:object_r:container_file_t:s0:c3,c4"
    assert str(conflict.value) == f'conflicting SELinux labels of volume pv: "{LABEL}" and "{other}"'
    assert str(waiting.value) == (
        'waiting for unmount of volume "k/d1", because it is already mounted to a different pod with a different '
        "SELinux label"
    )
    assert later == other


@pytest.mark.parametrize(
    ("mounted", "fits"),
    [(f'rw,context="{LABEL}"', True), ("rw,seclabel", False), ('rw,context="a:b:c:s0"', False)],
    ids=["the same", "none", "another"],
)
def test_what_an_earlier_kubelet_mounted_must_have_the_label(tmp_path, mounted, fits):
    labels = MountLabels(node(tmp_path, SELINUXFS, at("/m", mounted)), all_modes=False)
    known = labels.labelled(pod(shared=OPTIONS), "1", volume())

    labels.check_mounted(known, "/elsewhere")
    if fits:
        labels.check_mounted(known, "/m")
    else:
        with pytest.raises(VolumeFailed, match="waiting for unmount of volume"):
            labels.check_mounted(known, "/m")


# labelled by the runtime


def ready(source, *, label="", read_only=False, path="/p", is_device=False):
    spec = VolumeSpec(volume={"name": "v", source: {}}, read_only=read_only)
    known = PodVolume(name="v", plugin_name="k", plugin=object(), spec=spec, unique_name="u", selinux_label=label)
    return MountedForPod(known, path, is_device=is_device)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        pytest.param(ready("emptyDir"), True, id="emptyDir"),
        pytest.param(ready("configMap"), True, id="configMap"),
        pytest.param(ready("hostPath"), False, id="the node's own files"),
        pytest.param(ready("nfs"), False, id="nfs"),
        pytest.param(ready("iscsi"), True, id="iscsi"),
        pytest.param(ready("rbd"), True, id="rbd"),
        pytest.param(ready("storageos"), True, id="storageos"),
        pytest.param(ready("scaleIO"), True, id="scaleIO"),
        pytest.param(ready("iscsi", label=LABEL), False, id="mounted with the label"),
        pytest.param(ready("local", read_only=True), False, id="not for writing"),
        pytest.param(ready("local", is_device=True), False, id="a device"),
        pytest.param(ready("csi", path="/seclabel"), True, id="csi, a file system with labels"),
        pytest.param(ready("csi", path="/plain"), False, id="csi, one without"),
    ],
)
def test_which_volumes_the_runtime_labels(tmp_path, one, expected):
    found = node(tmp_path, SELINUXFS, at("/seclabel", "rw,seclabel"), at("/plain"))

    assert ("v" in Relabelling(found, lambda _uid: {"v": one}).volumes("1")) is expected
    off = Relabelling(SELinux(tmp_path / "none"), lambda _uid: {"v": one})
    assert (off.of_own_files, list(off.volumes("1"))) == (False, [])
