"""The types of core/v1 that pods, their templates, volumes, claims and quotas consist of.

They are types of `hyperkube_api.core.v1`, too, where others name them.
"""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube_api.core.v1 import PACKAGE as _CORE
from hyperkube_api.core.v1 import LocalObjectReference, ObjectReference

from hyperkube.machinery.schema import KubeObject, KubeSchema
from hyperkube.machinery.schema import fields as f

PACKAGE = _CORE
REFERRED = (LocalObjectReference, ObjectReference)
"""What is named here and stands in `v1`."""


class AWSElasticBlockStoreVolumeSource(KubeSchema):
    """AWS elastic block store volume source: part of PersistentVolumeSource.awsElasticBlockStore, VolumeSource.awsElasticBlockStore."""

    volumeID = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    partition = f.Int32(3, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)


class Affinity(KubeSchema):
    """Rules that draw a pod to nodes or other pods, or keep it away from them."""

    nodeAffinity = f.Struct("NodeAffinity", 1, ptr=True, omitempty=True)
    podAffinity = f.Struct("PodAffinity", 2, ptr=True, omitempty=True)
    podAntiAffinity = f.Struct("PodAntiAffinity", 3, ptr=True, omitempty=True)


class AppArmorProfile(KubeSchema, unions=(f.Union("type", {"localhostProfile": "LocalhostProfile"}),)):
    """App armor profile: part of PodSecurityContext.appArmorProfile, SecurityContext.appArmorProfile."""

    type = f.String(
        1, required=True, enum=("Localhost", "RuntimeDefault", "Unconfined"), typedef="v1.AppArmorProfileType"
    )
    localhostProfile = f.String(2, ptr=True, omitempty=True)


class AvoidPods(KubeSchema, published=False):
    """Avoid pods."""

    preferAvoidPods = f.List("PreferAvoidPodsEntry", 1, omitempty=True, list_type="atomic")


class AzureDiskVolumeSource(KubeSchema):
    """Azure disk volume source: part of PersistentVolumeSource.azureDisk, VolumeSource.azureDisk."""

    diskName = f.String(1, required=True)
    diskURI = f.String(2, required=True)
    cachingMode = f.String(
        3,
        ptr=True,
        omitempty=True,
        default="ReadWrite",
        enum=("None", "ReadOnly", "ReadWrite"),
        typedef="v1.AzureDataDiskCachingMode",
    )
    fsType = f.String(4, ptr=True, omitempty=True, default="ext4")
    readOnly = f.Bool(5, ptr=True, omitempty=True, default=False)
    kind = f.String(
        6,
        ptr=True,
        omitempty=True,
        default="Shared",
        enum=("Dedicated", "Managed", "Shared"),
        typedef="v1.AzureDataDiskKind",
    )


class AzureFilePersistentVolumeSource(KubeSchema):
    """Azure file persistent volume source: part of PersistentVolumeSource.azureFile."""

    secretName = f.String(1, required=True)
    shareName = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)
    secretNamespace = f.String(4, ptr=True, nullable=True)


class AzureFileVolumeSource(KubeSchema):
    """Azure file volume source: part of VolumeSource.azureFile."""

    secretName = f.String(1, required=True)
    shareName = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)


class CSIPersistentVolumeSource(KubeSchema):
    """CSI persistent volume source: part of PersistentVolumeSource.csi."""

    driver = f.String(1, required=True)
    volumeHandle = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)
    fsType = f.String(4, omitempty=True)
    volumeAttributes = f.Map(f.String(), 5, omitempty=True)
    controllerPublishSecretRef = f.Struct("SecretReference", 6, ptr=True, omitempty=True)
    nodeStageSecretRef = f.Struct("SecretReference", 7, ptr=True, omitempty=True)
    nodePublishSecretRef = f.Struct("SecretReference", 8, ptr=True, omitempty=True)
    controllerExpandSecretRef = f.Struct("SecretReference", 9, ptr=True, omitempty=True)
    nodeExpandSecretRef = f.Struct("SecretReference", 10, ptr=True, omitempty=True)


class CSIVolumeSource(KubeSchema):
    """CSI volume source: part of VolumeSource.csi."""

    driver = f.String(1, required=True)
    readOnly = f.Bool(2, ptr=True, omitempty=True)
    fsType = f.String(3, ptr=True, omitempty=True)
    volumeAttributes = f.Map(f.String(), 4, omitempty=True)
    nodePublishSecretRef = f.Struct("LocalObjectReference", 5, ptr=True, omitempty=True)


class Capabilities(KubeSchema):
    """Capabilities: part of SecurityContext.capabilities."""

    add = f.List(f.String(typedef="v1.Capability"), 1, omitempty=True, list_type="atomic")
    drop = f.List(f.String(typedef="v1.Capability"), 2, omitempty=True, list_type="atomic")


class CephFSPersistentVolumeSource(KubeSchema):
    """Ceph FS persistent volume source: part of PersistentVolumeSource.cephfs."""

    monitors = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    path = f.String(2, omitempty=True)
    user = f.String(3, omitempty=True)
    secretFile = f.String(4, omitempty=True)
    secretRef = f.Struct("SecretReference", 5, ptr=True, omitempty=True)
    readOnly = f.Bool(6, omitempty=True)


class CephFSVolumeSource(KubeSchema):
    """Ceph FS volume source: part of VolumeSource.cephfs."""

    monitors = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    path = f.String(2, omitempty=True)
    user = f.String(3, omitempty=True)
    secretFile = f.String(4, omitempty=True)
    secretRef = f.Struct("LocalObjectReference", 5, ptr=True, omitempty=True)
    readOnly = f.Bool(6, omitempty=True)


class CinderPersistentVolumeSource(KubeSchema):
    """Cinder persistent volume source: part of PersistentVolumeSource.cinder."""

    volumeID = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    readOnly = f.Bool(3, omitempty=True)
    secretRef = f.Struct("SecretReference", 4, ptr=True, omitempty=True)


class CinderVolumeSource(KubeSchema):
    """Cinder volume source: part of VolumeSource.cinder."""

    volumeID = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    readOnly = f.Bool(3, omitempty=True)
    secretRef = f.Struct("LocalObjectReference", 4, ptr=True, omitempty=True)


class ClusterTrustBundleProjection(KubeSchema):
    """Cluster trust bundle projection: part of VolumeProjection.clusterTrustBundle."""

    name = f.String(1, ptr=True, omitempty=True)
    signerName = f.String(2, ptr=True, omitempty=True)
    labelSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 3, ptr=True, omitempty=True)
    optional = f.Bool(5, ptr=True, omitempty=True)
    path = f.String(4, required=True)


class ConfigMapEnvSource(KubeSchema):
    """Config map env source: part of EnvFromSource.configMapRef."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    optional = f.Bool(2, ptr=True, omitempty=True)


class ConfigMapKeySelector(KubeSchema, struct_type="atomic"):
    """Config map key selector: part of EnvVarSource.configMapKeyRef."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    key = f.String(2, required=True)
    optional = f.Bool(3, ptr=True, omitempty=True)


class ConfigMapProjection(KubeSchema):
    """Config map projection: part of VolumeProjection.configMap."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    items = f.List("KeyToPath", 2, omitempty=True, list_type="atomic", doc="The objects.")
    optional = f.Bool(4, ptr=True, omitempty=True)


class ConfigMapVolumeSource(KubeSchema):
    """Config map volume source: part of VolumeSource.configMap."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    items = f.List("KeyToPath", 2, omitempty=True, list_type="atomic", doc="The objects.")
    defaultMode = f.Int32(3, ptr=True, omitempty=True)
    optional = f.Bool(4, ptr=True, omitempty=True)


class Container(KubeSchema):
    """One program of a pod: its image, command, environment and resources."""

    name = f.String(1, required=True, doc="The name, unique in the pod.")
    image = f.String(2, omitempty=True, doc="The image to run.")
    command = f.List(
        f.String(), 3, omitempty=True, list_type="atomic", doc="What to run instead of the image's entry point."
    )
    args = f.List(f.String(), 4, omitempty=True, list_type="atomic", doc="The arguments.")
    workingDir = f.String(5, omitempty=True, doc="The directory to start in.")
    ports = f.List(
        "ContainerPort",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("containerPort", "protocol"),
        patch_strategy="merge",
        patch_merge_key="containerPort",
        doc="The ports on which the container listens.",
    )
    envFrom = f.List(
        "EnvFromSource",
        19,
        omitempty=True,
        list_type="atomic",
        doc="ConfigMaps and Secrets whose entries become environment variables.",
    )
    env = f.List(
        "EnvVar",
        7,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Environment variables.",
    )
    resources = f.Struct("ResourceRequirements", 8, omitempty=True, doc="What the container asks for and may use.")
    resizePolicy = f.List(
        "ContainerResizePolicy", 23, omitempty=True, list_type="atomic", gate="InPlacePodVerticalScaling"
    )
    restartPolicy = f.String(
        24,
        ptr=True,
        omitempty=True,
        typedef="v1.ContainerRestartPolicy",
        doc="For init containers: Always makes it a sidecar.",
    )
    restartPolicyRules = f.List(
        "ContainerRestartRule", 25, omitempty=True, list_type="atomic", gate="ContainerRestartRules"
    )
    volumeMounts = f.List(
        "VolumeMount",
        9,
        omitempty=True,
        list_type="map",
        list_map_keys=("mountPath",),
        patch_strategy="merge",
        patch_merge_key="mountPath",
        doc="Where volumes appear in the container.",
    )
    volumeDevices = f.List(
        "VolumeDevice",
        21,
        omitempty=True,
        list_type="map",
        list_map_keys=("devicePath",),
        patch_strategy="merge",
        patch_merge_key="devicePath",
        doc="Where volumes appear as block devices.",
    )
    livenessProbe = f.Struct(
        "Probe", 10, ptr=True, omitempty=True, doc="A check after whose failure the container is restarted."
    )
    readinessProbe = f.Struct(
        "Probe", 11, ptr=True, omitempty=True, doc="A check that decides whether Services send traffic."
    )
    startupProbe = f.Struct(
        "Probe", 22, ptr=True, omitempty=True, doc="A check that must succeed before the other probes begin."
    )
    lifecycle = f.Struct(
        "Lifecycle", 12, ptr=True, omitempty=True, doc="What to do after the start and before the end."
    )
    terminationMessagePath = f.String(13, omitempty=True, doc="The file with the container's last words.")
    terminationMessagePolicy = f.String(
        20,
        omitempty=True,
        enum=("FallbackToLogsOnError", "File"),
        typedef="v1.TerminationMessagePolicy",
        doc="Where the last words are taken from.",
    )
    imagePullPolicy = f.String(
        14,
        omitempty=True,
        enum=("Always", "IfNotPresent", "Never"),
        typedef="v1.PullPolicy",
        doc="When to pull the image.",
    )
    securityContext = f.Struct(
        "SecurityContext", 15, ptr=True, omitempty=True, doc="Rights and identity of the container's processes."
    )
    stdin = f.Bool(16, omitempty=True, doc="Whether to keep a standard input for it.")
    stdinOnce = f.Bool(17, omitempty=True, doc="Whether the input ends with the first client.")
    tty = f.Bool(18, omitempty=True, doc="Whether it gets a terminal.")


class ContainerExtendedResourceRequest(KubeSchema):
    """Container extended resource request: part of PodExtendedResourceClaimStatus.requestMappings."""

    containerName = f.String(1, required=True)
    resourceName = f.String(2, required=True)
    requestName = f.String(3, required=True)


class ContainerPort(KubeSchema):
    """A port on which a container listens."""

    name = f.String(1, omitempty=True, doc="A name by which Services can refer to the port.")
    hostPort = f.Int32(2, omitempty=True, doc="The port on the node that leads to it.")
    containerPort = f.Int32(3, required=True, doc="The port number.")
    protocol = f.String(
        4, omitempty=True, default="TCP", enum=("SCTP", "TCP", "UDP"), typedef="v1.Protocol", doc="UDP, TCP or SCTP."
    )
    hostIP = f.String(5, omitempty=True, doc="The node's address to which the host port is bound.")


class ContainerResizePolicy(KubeSchema):
    """Container resize policy: part of Container.resizePolicy, EphemeralContainerCommon.resizePolicy."""

    resourceName = f.String(1, required=True, typedef="v1.ResourceName")
    restartPolicy = f.String(2, required=True, typedef="v1.ResourceResizeRestartPolicy")


class ContainerRestartRule(KubeSchema):
    """Container restart rule: part of Container.restartPolicyRules, EphemeralContainerCommon.restartPolicyRules."""

    action = f.String(1, required=True, omitempty=True, typedef="v1.ContainerRestartRuleAction")
    exitCodes = f.Struct("ContainerRestartRuleOnExitCodes", 2, ptr=True, omitempty=True)


class ContainerRestartRuleOnExitCodes(KubeSchema):
    """Container restart rule on exit codes: part of ContainerRestartRule.exitCodes."""

    operator = f.String(1, required=True, omitempty=True, typedef="v1.ContainerRestartRuleOnExitCodesOperator")
    values = f.List(f.Int32(), 2, omitempty=True, list_type="set")


class ContainerState(KubeSchema):
    """Container state: part of ContainerStatus.state, ContainerStatus.lastState."""

    waiting = f.Struct("ContainerStateWaiting", 1, ptr=True, omitempty=True)
    running = f.Struct("ContainerStateRunning", 2, ptr=True, omitempty=True)
    terminated = f.Struct("ContainerStateTerminated", 3, ptr=True, omitempty=True)


class ContainerStateRunning(KubeSchema):
    """Container state running: part of ContainerState.running."""

    startedAt = f.Time(1, omitempty=True)


class ContainerStateTerminated(KubeSchema):
    """Container state terminated: part of ContainerState.terminated."""

    exitCode = f.Int32(1, required=True)
    signal = f.Int32(2, omitempty=True)
    reason = f.String(3, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(4, omitempty=True, doc="Why, for people.")
    startedAt = f.Time(5, omitempty=True)
    finishedAt = f.Time(6, omitempty=True)
    containerID = f.String(7, omitempty=True)


class ContainerStateWaiting(KubeSchema):
    """Container state waiting: part of ContainerState.waiting."""

    reason = f.String(1, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(2, omitempty=True, doc="Why, for people.")


class ContainerStatus(KubeSchema):
    """What is observed of a Container."""

    name = f.String(1, required=True)
    state = f.Struct("ContainerState", 2, omitempty=True)
    lastState = f.Struct("ContainerState", 3, omitempty=True)
    ready = f.Bool(4, required=True)
    restartCount = f.Int32(5, required=True)
    image = f.String(6, required=True)
    imageID = f.String(7, required=True)
    containerID = f.String(8, omitempty=True)
    started = f.Bool(9, ptr=True, omitempty=True)
    allocatedResources = f.Map(f.Quantity(), 10, omitempty=True, typedef="v1.ResourceList")
    resources = f.Struct("ResourceRequirements", 11, ptr=True, omitempty=True, gate="InPlacePodVerticalScaling")
    volumeMounts = f.List(
        "VolumeMountStatus",
        12,
        omitempty=True,
        list_type="map",
        list_map_keys=("mountPath",),
        patch_strategy="merge",
        patch_merge_key="mountPath",
    )
    user = f.Struct("ContainerUser", 13, ptr=True, omitempty=True, gate="SupplementalGroupsPolicy")
    allocatedResourcesStatus = f.List(
        "ResourceStatus",
        14,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        gate="ResourceHealthStatus",
    )
    stopSignal = f.String(
        15,
        ptr=True,
        omitempty=True,
        enum=(
            "SIGABRT",
            "SIGALRM",
            "SIGBUS",
            "SIGCHLD",
            "SIGCLD",
            "SIGCONT",
            "SIGFPE",
            "SIGHUP",
            "SIGILL",
            "SIGINT",
            "SIGIO",
            "SIGIOT",
            "SIGKILL",
            "SIGPIPE",
            "SIGPOLL",
            "SIGPROF",
            "SIGPWR",
            "SIGQUIT",
            "SIGRTMAX",
            "SIGRTMAX-1",
            "SIGRTMAX-10",
            "SIGRTMAX-11",
            "SIGRTMAX-12",
            "SIGRTMAX-13",
            "SIGRTMAX-14",
            "SIGRTMAX-2",
            "SIGRTMAX-3",
            "SIGRTMAX-4",
            "SIGRTMAX-5",
            "SIGRTMAX-6",
            "SIGRTMAX-7",
            "SIGRTMAX-8",
            "SIGRTMAX-9",
            "SIGRTMIN",
            "SIGRTMIN+1",
            "SIGRTMIN+10",
            "SIGRTMIN+11",
            "SIGRTMIN+12",
            "SIGRTMIN+13",
            "SIGRTMIN+14",
            "SIGRTMIN+15",
            "SIGRTMIN+2",
            "SIGRTMIN+3",
            "SIGRTMIN+4",
            "SIGRTMIN+5",
            "SIGRTMIN+6",
            "SIGRTMIN+7",
            "SIGRTMIN+8",
            "SIGRTMIN+9",
            "SIGSEGV",
            "SIGSTKFLT",
            "SIGSTOP",
            "SIGSYS",
            "SIGTERM",
            "SIGTRAP",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGURG",
            "SIGUSR1",
            "SIGUSR2",
            "SIGVTALRM",
            "SIGWINCH",
            "SIGXCPU",
            "SIGXFSZ",
        ),
        typedef="v1.Signal",
        gate="ContainerStopSignals",
    )


class ContainerUser(KubeSchema):
    """Container user: part of ContainerStatus.user."""

    linux = f.Struct("LinuxContainerUser", 1, ptr=True, omitempty=True)


class DownwardAPIProjection(KubeSchema):
    """Downward API projection: part of VolumeProjection.downwardAPI."""

    items = f.List("DownwardAPIVolumeFile", 1, omitempty=True, list_type="atomic", doc="The objects.")


class DownwardAPIVolumeFile(KubeSchema):
    """Downward API volume file: part of DownwardAPIProjection.items, DownwardAPIVolumeSource.items."""

    path = f.String(1, required=True)
    fieldRef = f.Struct("ObjectFieldSelector", 2, ptr=True, omitempty=True)
    resourceFieldRef = f.Struct("ResourceFieldSelector", 3, ptr=True, omitempty=True)
    mode = f.Int32(4, ptr=True, omitempty=True)


class DownwardAPIVolumeSource(KubeSchema):
    """Downward API volume source: part of VolumeSource.downwardAPI."""

    items = f.List("DownwardAPIVolumeFile", 1, omitempty=True, list_type="atomic", doc="The objects.")
    defaultMode = f.Int32(2, ptr=True, omitempty=True)


class EmptyDirVolumeSource(KubeSchema):
    """Empty dir volume source: part of VolumeSource.emptyDir."""

    medium = f.String(1, omitempty=True, typedef="v1.StorageMedium")
    sizeLimit = f.Quantity(2, ptr=True, omitempty=True)


class EnvFromSource(KubeSchema):
    """Env from source: part of Container.envFrom, EphemeralContainerCommon.envFrom."""

    prefix = f.String(1, omitempty=True)
    configMapRef = f.Struct("ConfigMapEnvSource", 2, ptr=True, omitempty=True)
    secretRef = f.Struct("SecretEnvSource", 3, ptr=True, omitempty=True)


class EnvVar(KubeSchema):
    """An environment variable."""

    name = f.String(1, required=True, doc="The name.")
    value = f.String(2, omitempty=True, doc="The value.")
    valueFrom = f.Struct("EnvVarSource", 3, ptr=True, omitempty=True, doc="Where the value comes from.")


class EnvVarSource(KubeSchema):
    """Where the value of an environment variable comes from."""

    fieldRef = f.Struct("ObjectFieldSelector", 1, ptr=True, omitempty=True)
    resourceFieldRef = f.Struct("ResourceFieldSelector", 2, ptr=True, omitempty=True)
    configMapKeyRef = f.Struct("ConfigMapKeySelector", 3, ptr=True, omitempty=True)
    secretKeyRef = f.Struct("SecretKeySelector", 4, ptr=True, omitempty=True)
    fileKeyRef = f.Struct("FileKeySelector", 5, ptr=True, omitempty=True, gate="EnvFiles")


class EphemeralContainer(KubeSchema):
    """Ephemeral container: part of PodSpec.ephemeralContainers."""

    ephemeral_container_common = f.Inline("EphemeralContainerCommon", 1)
    targetContainerName = f.String(2, omitempty=True)


class EphemeralContainerCommon(KubeSchema, published=False):
    """Ephemeral container common: part of EphemeralContainer."""

    name = f.String(1, required=True)
    image = f.String(2, omitempty=True)
    command = f.List(f.String(), 3, omitempty=True, list_type="atomic")
    args = f.List(f.String(), 4, omitempty=True, list_type="atomic")
    workingDir = f.String(5, omitempty=True)
    ports = f.List(
        "ContainerPort",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("containerPort", "protocol"),
        patch_strategy="merge",
        patch_merge_key="containerPort",
    )
    envFrom = f.List("EnvFromSource", 19, omitempty=True, list_type="atomic")
    env = f.List(
        "EnvVar",
        7,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )
    resources = f.Struct("ResourceRequirements", 8, omitempty=True)
    resizePolicy = f.List(
        "ContainerResizePolicy", 23, omitempty=True, list_type="atomic", gate="InPlacePodVerticalScaling"
    )
    restartPolicy = f.String(24, ptr=True, omitempty=True, typedef="v1.ContainerRestartPolicy")
    restartPolicyRules = f.List(
        "ContainerRestartRule", 25, omitempty=True, list_type="atomic", gate="ContainerRestartRules"
    )
    volumeMounts = f.List(
        "VolumeMount",
        9,
        omitempty=True,
        list_type="map",
        list_map_keys=("mountPath",),
        patch_strategy="merge",
        patch_merge_key="mountPath",
    )
    volumeDevices = f.List(
        "VolumeDevice",
        21,
        omitempty=True,
        list_type="map",
        list_map_keys=("devicePath",),
        patch_strategy="merge",
        patch_merge_key="devicePath",
    )
    livenessProbe = f.Struct("Probe", 10, ptr=True, omitempty=True)
    readinessProbe = f.Struct("Probe", 11, ptr=True, omitempty=True)
    startupProbe = f.Struct("Probe", 22, ptr=True, omitempty=True)
    lifecycle = f.Struct("Lifecycle", 12, ptr=True, omitempty=True)
    terminationMessagePath = f.String(13, omitempty=True)
    terminationMessagePolicy = f.String(
        20, omitempty=True, enum=("FallbackToLogsOnError", "File"), typedef="v1.TerminationMessagePolicy"
    )
    imagePullPolicy = f.String(14, omitempty=True, enum=("Always", "IfNotPresent", "Never"), typedef="v1.PullPolicy")
    securityContext = f.Struct("SecurityContext", 15, ptr=True, omitempty=True)
    stdin = f.Bool(16, omitempty=True)
    stdinOnce = f.Bool(17, omitempty=True)
    tty = f.Bool(18, omitempty=True)


class EphemeralVolumeSource(KubeSchema):
    """Ephemeral volume source: part of VolumeSource.ephemeral."""

    volumeClaimTemplate = f.Struct("PersistentVolumeClaimTemplate", 1, ptr=True, omitempty=True)


class ExecAction(KubeSchema):
    """Exec action: part of LifecycleHandler.exec, ProbeHandler.exec."""

    command = f.List(f.String(), 1, omitempty=True, list_type="atomic")


class FCVolumeSource(KubeSchema):
    """FC volume source: part of PersistentVolumeSource.fc, VolumeSource.fc."""

    targetWWNs = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    lun = f.Int32(2, ptr=True, omitempty=True)
    fsType = f.String(3, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)
    wwids = f.List(f.String(), 5, omitempty=True, list_type="atomic")


class FileKeySelector(KubeSchema, struct_type="atomic"):
    """File key selector: part of EnvVarSource.fileKeyRef."""

    volumeName = f.String(1, required=True)
    path = f.String(2, required=True)
    key = f.String(3, required=True)
    optional = f.Bool(4, ptr=True, omitempty=True, default=False)


class FlexPersistentVolumeSource(KubeSchema):
    """Flex persistent volume source: part of PersistentVolumeSource.flexVolume."""

    driver = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    secretRef = f.Struct("SecretReference", 3, ptr=True, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)
    options = f.Map(f.String(), 5, omitempty=True)


class FlexVolumeSource(KubeSchema):
    """Flex volume source: part of VolumeSource.flexVolume."""

    driver = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    secretRef = f.Struct("LocalObjectReference", 3, ptr=True, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)
    options = f.Map(f.String(), 5, omitempty=True)


class FlockerVolumeSource(KubeSchema):
    """Flocker volume source: part of PersistentVolumeSource.flocker, VolumeSource.flocker."""

    datasetName = f.String(1, omitempty=True)
    datasetUUID = f.String(2, omitempty=True)


class GCEPersistentDiskVolumeSource(KubeSchema):
    """GCE persistent disk volume source: part of PersistentVolumeSource.gcePersistentDisk, VolumeSource.gcePersistentDisk."""

    pdName = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    partition = f.Int32(3, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)


class GRPCAction(KubeSchema):
    """GRPC action: part of ProbeHandler.grpc."""

    port = f.Int32(1, required=True)
    service = f.String(2, ptr=True, nullable=True, default="")


class GitRepoVolumeSource(KubeSchema):
    """Git repo volume source: part of VolumeSource.gitRepo."""

    repository = f.String(1, required=True)
    revision = f.String(2, omitempty=True)
    directory = f.String(3, omitempty=True)


class GlusterfsPersistentVolumeSource(KubeSchema):
    """Glusterfs persistent volume source: part of PersistentVolumeSource.glusterfs."""

    endpoints = f.String(1, required=True)
    path = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)
    endpointsNamespace = f.String(4, ptr=True, omitempty=True)


class GlusterfsVolumeSource(KubeSchema):
    """Glusterfs volume source: part of VolumeSource.glusterfs."""

    endpoints = f.String(1, required=True)
    path = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)


class HTTPGetAction(KubeSchema):
    """HTTP get action: part of LifecycleHandler.httpGet, ProbeHandler.httpGet."""

    path = f.String(1, omitempty=True)
    port = f.IntOrString(2, required=True)
    host = f.String(3, omitempty=True)
    scheme = f.String(4, omitempty=True, enum=("HTTP", "HTTPS"), typedef="v1.URIScheme")
    httpHeaders = f.List("HTTPHeader", 5, omitempty=True, list_type="atomic")


class HTTPHeader(KubeSchema):
    """HTTP header: part of HTTPGetAction.httpHeaders."""

    name = f.String(1, required=True)
    value = f.String(2, required=True)


class HostAlias(KubeSchema):
    """Host alias: part of PodSpec.hostAliases."""

    ip = f.String(1, required=True)
    hostnames = f.List(f.String(), 2, omitempty=True, list_type="atomic")


class HostIP(KubeSchema):
    """Host IP: part of PodStatus.hostIPs."""

    ip = f.String(1, required=True)


class HostPathVolumeSource(KubeSchema):
    """Host path volume source: part of PersistentVolumeSource.hostPath, VolumeSource.hostPath."""

    path = f.String(1, required=True)
    type = f.String(
        2,
        ptr=True,
        omitempty=True,
        enum=("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
        typedef="v1.HostPathType",
    )


class ISCSIPersistentVolumeSource(KubeSchema):
    """ISCSI persistent volume source: part of PersistentVolumeSource.iscsi."""

    targetPortal = f.String(1, required=True)
    iqn = f.String(2, required=True)
    lun = f.Int32(3, required=True)
    iscsiInterface = f.String(4, omitempty=True, default="default")
    fsType = f.String(5, omitempty=True)
    readOnly = f.Bool(6, omitempty=True)
    portals = f.List(f.String(), 7, omitempty=True, list_type="atomic")
    chapAuthDiscovery = f.Bool(8, omitempty=True)
    chapAuthSession = f.Bool(11, omitempty=True)
    secretRef = f.Struct("SecretReference", 10, ptr=True, omitempty=True)
    initiatorName = f.String(12, ptr=True, omitempty=True)


class ISCSIVolumeSource(KubeSchema):
    """ISCSI volume source: part of VolumeSource.iscsi."""

    targetPortal = f.String(1, required=True)
    iqn = f.String(2, required=True)
    lun = f.Int32(3, required=True)
    iscsiInterface = f.String(4, omitempty=True, default="default")
    fsType = f.String(5, omitempty=True)
    readOnly = f.Bool(6, omitempty=True)
    portals = f.List(f.String(), 7, omitempty=True, list_type="atomic")
    chapAuthDiscovery = f.Bool(8, omitempty=True)
    chapAuthSession = f.Bool(11, omitempty=True)
    secretRef = f.Struct("LocalObjectReference", 10, ptr=True, omitempty=True)
    initiatorName = f.String(12, ptr=True, omitempty=True)


class ImageVolumeSource(KubeSchema):
    """Image volume source: part of VolumeSource.image."""

    reference = f.String(1, omitempty=True)
    pullPolicy = f.String(2, omitempty=True, enum=("Always", "IfNotPresent", "Never"), typedef="v1.PullPolicy")


class ImageVolumeStatus(KubeSchema):
    """Image volume status: part of VolumeStatus.image."""

    imageRef = f.String(1, required=True, omitempty=True)


class KeyToPath(KubeSchema):
    """Key to path: part of ConfigMapProjection.items, ConfigMapVolumeSource.items, SecretProjection.items and others."""

    key = f.String(1, required=True)
    path = f.String(2, required=True)
    mode = f.Int32(3, ptr=True, omitempty=True)


class Lifecycle(KubeSchema):
    """Lifecycle: part of Container.lifecycle, EphemeralContainerCommon.lifecycle."""

    postStart = f.Struct("LifecycleHandler", 1, ptr=True, omitempty=True)
    preStop = f.Struct("LifecycleHandler", 2, ptr=True, omitempty=True)
    stopSignal = f.String(
        3,
        ptr=True,
        omitempty=True,
        enum=(
            "SIGABRT",
            "SIGALRM",
            "SIGBUS",
            "SIGCHLD",
            "SIGCLD",
            "SIGCONT",
            "SIGFPE",
            "SIGHUP",
            "SIGILL",
            "SIGINT",
            "SIGIO",
            "SIGIOT",
            "SIGKILL",
            "SIGPIPE",
            "SIGPOLL",
            "SIGPROF",
            "SIGPWR",
            "SIGQUIT",
            "SIGRTMAX",
            "SIGRTMAX-1",
            "SIGRTMAX-10",
            "SIGRTMAX-11",
            "SIGRTMAX-12",
            "SIGRTMAX-13",
            "SIGRTMAX-14",
            "SIGRTMAX-2",
            "SIGRTMAX-3",
            "SIGRTMAX-4",
            "SIGRTMAX-5",
            "SIGRTMAX-6",
            "SIGRTMAX-7",
            "SIGRTMAX-8",
            "SIGRTMAX-9",
            "SIGRTMIN",
            "SIGRTMIN+1",
            "SIGRTMIN+10",
            "SIGRTMIN+11",
            "SIGRTMIN+12",
            "SIGRTMIN+13",
            "SIGRTMIN+14",
            "SIGRTMIN+15",
            "SIGRTMIN+2",
            "SIGRTMIN+3",
            "SIGRTMIN+4",
            "SIGRTMIN+5",
            "SIGRTMIN+6",
            "SIGRTMIN+7",
            "SIGRTMIN+8",
            "SIGRTMIN+9",
            "SIGSEGV",
            "SIGSTKFLT",
            "SIGSTOP",
            "SIGSYS",
            "SIGTERM",
            "SIGTRAP",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGURG",
            "SIGUSR1",
            "SIGUSR2",
            "SIGVTALRM",
            "SIGWINCH",
            "SIGXCPU",
            "SIGXFSZ",
        ),
        typedef="v1.Signal",
    )


class LifecycleHandler(KubeSchema):
    """Lifecycle handler: part of Lifecycle.postStart, Lifecycle.preStop."""

    exec = f.Struct("ExecAction", 1, ptr=True, omitempty=True)
    httpGet = f.Struct("HTTPGetAction", 2, ptr=True, omitempty=True)
    tcpSocket = f.Struct("TCPSocketAction", 3, ptr=True, omitempty=True)
    sleep = f.Struct("SleepAction", 4, ptr=True, omitempty=True)


class LimitRange(KubeObject):
    """Bounds and default values for what single pods and containers of a namespace may use."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("LimitRangeSpec", 2, omitempty=True, doc="What is wished for.")


class LimitRangeItem(KubeSchema):
    """Limit range item: part of LimitRangeSpec.limits."""

    type = f.String(1, required=True, typedef="v1.LimitType")
    max = f.Map(f.Quantity(), 2, omitempty=True, typedef="v1.ResourceList")
    min = f.Map(f.Quantity(), 3, omitempty=True, typedef="v1.ResourceList")
    default = f.Map(f.Quantity(), 4, omitempty=True, typedef="v1.ResourceList")
    defaultRequest = f.Map(f.Quantity(), 5, omitempty=True, typedef="v1.ResourceList")
    maxLimitRequestRatio = f.Map(f.Quantity(), 6, omitempty=True, typedef="v1.ResourceList")


class LimitRangeList(KubeObject):
    """A list of LimitRange objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("LimitRange", 2, required=True, nullable=True, doc="The objects.")


class LimitRangeSpec(KubeSchema):
    """What a LimitRange should be."""

    limits = f.List("LimitRangeItem", 1, required=True, nullable=True, list_type="atomic")


class LinuxContainerUser(KubeSchema):
    """Linux container user: part of ContainerUser.linux."""

    uid = f.Int64(1, required=True)
    gid = f.Int64(2, required=True)
    supplementalGroups = f.List(f.Int64(), 3, omitempty=True, list_type="atomic")


class LocalVolumeSource(KubeSchema):
    """Local volume source: part of PersistentVolumeSource.local."""

    path = f.String(1, required=True)
    fsType = f.String(2, ptr=True, omitempty=True)


class ModifyVolumeStatus(KubeSchema):
    """Modify volume status: part of PersistentVolumeClaimStatus.modifyVolumeStatus."""

    targetVolumeAttributesClassName = f.String(1, omitempty=True)
    status = f.String(
        2,
        required=True,
        enum=("InProgress", "Infeasible", "Pending"),
        typedef="v1.PersistentVolumeClaimModifyVolumeStatus",
        doc="What is observed.",
    )


class NFSVolumeSource(KubeSchema):
    """NFS volume source: part of PersistentVolumeSource.nfs, VolumeSource.nfs."""

    server = f.String(1, required=True)
    path = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)


class NodeAffinity(KubeSchema):
    """Node affinity: part of Affinity.nodeAffinity."""

    requiredDuringSchedulingIgnoredDuringExecution = f.Struct("NodeSelector", 1, ptr=True, omitempty=True)
    preferredDuringSchedulingIgnoredDuringExecution = f.List(
        "PreferredSchedulingTerm", 2, omitempty=True, list_type="atomic"
    )


class NodeAllocatableResourceClaimStatus(KubeSchema):
    """Node allocatable resource claim status: part of PodStatus.nodeAllocatableResourceClaimStatuses."""

    resourceClaimName = f.String(1, required=True)
    containers = f.List(f.String(), 2, omitempty=True, list_type="set")
    resources = f.Map(f.Quantity(), 3, required=True, nullable=True)


class NodeSelector(KubeSchema, struct_type="atomic"):
    """Node selector: part of NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution, VolumeNodeAffinity.required."""

    nodeSelectorTerms = f.List("NodeSelectorTerm", 1, required=True, nullable=True, list_type="atomic")


class NodeSelectorRequirement(KubeSchema):
    """Node selector requirement: part of NodeSelectorTerm.matchExpressions, NodeSelectorTerm.matchFields."""

    key = f.String(1, required=True)
    operator = f.String(
        2, required=True, enum=("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"), typedef="v1.NodeSelectorOperator"
    )
    values = f.List(f.String(), 3, omitempty=True, list_type="atomic")


class NodeSelectorTerm(KubeSchema, struct_type="atomic"):
    """Node selector term: part of NodeSelector.nodeSelectorTerms, PreferredSchedulingTerm.preference."""

    matchExpressions = f.List("NodeSelectorRequirement", 1, omitempty=True, list_type="atomic")
    matchFields = f.List("NodeSelectorRequirement", 2, omitempty=True, list_type="atomic")


class ObjectFieldSelector(KubeSchema, struct_type="atomic"):
    """Object field selector: part of DownwardAPIVolumeFile.fieldRef, EnvVarSource.fieldRef."""

    apiVersion = f.String(1, omitempty=True)
    fieldPath = f.String(2, required=True)


class PersistentVolume(KubeObject):
    """A piece of storage in the cluster."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PersistentVolumeSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("PersistentVolumeStatus", 3, omitempty=True, doc="What is observed.")


class PersistentVolumeClaim(KubeObject):
    """A wish for storage, to be bound to a PersistentVolume."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PersistentVolumeClaimSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("PersistentVolumeClaimStatus", 3, omitempty=True, doc="What is observed.")


class PersistentVolumeClaimCondition(KubeSchema):
    """Persistent volume claim condition: part of PersistentVolumeClaimStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.PersistentVolumeClaimConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastProbeTime = f.Time(3, omitempty=True)
    lastTransitionTime = f.Time(4, omitempty=True, doc="When the condition last changed.")
    reason = f.String(5, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, omitempty=True, doc="Why, for people.")


class PersistentVolumeClaimList(KubeObject):
    """A list of PersistentVolumeClaim objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PersistentVolumeClaim", 2, required=True, nullable=True, doc="The objects.")


class PersistentVolumeClaimSpec(KubeSchema):
    """What storage is wished for."""

    accessModes = f.List(
        f.String(typedef="v1.PersistentVolumeAccessMode"),
        1,
        omitempty=True,
        enum=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        list_type="atomic",
        doc="How many nodes may mount it, and how.",
    )
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 4, ptr=True, omitempty=True)
    resources = f.Struct("VolumeResourceRequirements", 2, omitempty=True, doc="How much storage.")
    volumeName = f.String(3, omitempty=True, doc="The volume it is bound to.")
    storageClassName = f.String(5, ptr=True, omitempty=True, doc="Which kind of storage.")
    volumeMode = f.String(6, ptr=True, omitempty=True, enum=("Block", "Filesystem"), typedef="v1.PersistentVolumeMode")
    dataSource = f.Struct("TypedLocalObjectReference", 7, ptr=True, omitempty=True)
    dataSourceRef = f.Struct("TypedObjectReference", 8, ptr=True, omitempty=True)
    volumeAttributesClassName = f.String(9, ptr=True, omitempty=True, gate="VolumeAttributesClass")


class PersistentVolumeClaimStatus(KubeSchema):
    """What is observed of a PersistentVolumeClaim."""

    phase = f.String(1, omitempty=True, enum=("Bound", "Lost", "Pending"), typedef="v1.PersistentVolumeClaimPhase")
    accessModes = f.List(
        f.String(typedef="v1.PersistentVolumeAccessMode"),
        2,
        omitempty=True,
        enum=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        list_type="atomic",
    )
    capacity = f.Map(f.Quantity(), 3, omitempty=True, typedef="v1.ResourceList")
    conditions = f.List(
        "PersistentVolumeClaimCondition",
        4,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    allocatedResources = f.Map(f.Quantity(), 5, omitempty=True, typedef="v1.ResourceList")
    allocatedResourceStatuses = f.Map(f.String(), 7, omitempty=True, map_type="granular")
    currentVolumeAttributesClassName = f.String(8, ptr=True, omitempty=True, gate="VolumeAttributesClass")
    modifyVolumeStatus = f.Struct("ModifyVolumeStatus", 9, ptr=True, omitempty=True, gate="VolumeAttributesClass")


class PersistentVolumeClaimTemplate(KubeSchema):
    """Persistent volume claim template: part of EphemeralVolumeSource.volumeClaimTemplate."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PersistentVolumeClaimSpec", 2, required=True, doc="What is wished for.")


class PersistentVolumeClaimVolumeSource(KubeSchema):
    """Persistent volume claim volume source: part of VolumeSource.persistentVolumeClaim."""

    claimName = f.String(1, required=True)
    readOnly = f.Bool(2, omitempty=True)


class PersistentVolumeList(KubeObject):
    """A list of PersistentVolume objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PersistentVolume", 2, required=True, nullable=True, doc="The objects.")


class PersistentVolumeSource(KubeSchema, published=False):
    """Persistent volume source: part of PersistentVolumeSpec."""

    gcePersistentDisk = f.Struct("GCEPersistentDiskVolumeSource", 1, ptr=True, omitempty=True)
    awsElasticBlockStore = f.Struct("AWSElasticBlockStoreVolumeSource", 2, ptr=True, omitempty=True)
    hostPath = f.Struct("HostPathVolumeSource", 3, ptr=True, omitempty=True)
    glusterfs = f.Struct("GlusterfsPersistentVolumeSource", 4, ptr=True, omitempty=True)
    nfs = f.Struct("NFSVolumeSource", 5, ptr=True, omitempty=True)
    rbd = f.Struct("RBDPersistentVolumeSource", 6, ptr=True, omitempty=True)
    iscsi = f.Struct("ISCSIPersistentVolumeSource", 7, ptr=True, omitempty=True)
    cinder = f.Struct("CinderPersistentVolumeSource", 8, ptr=True, omitempty=True)
    cephfs = f.Struct("CephFSPersistentVolumeSource", 9, ptr=True, omitempty=True)
    fc = f.Struct("FCVolumeSource", 10, ptr=True, omitempty=True)
    flocker = f.Struct("FlockerVolumeSource", 11, ptr=True, omitempty=True)
    flexVolume = f.Struct("FlexPersistentVolumeSource", 12, ptr=True, omitempty=True)
    azureFile = f.Struct("AzureFilePersistentVolumeSource", 13, ptr=True, omitempty=True)
    vsphereVolume = f.Struct("VsphereVirtualDiskVolumeSource", 14, ptr=True, omitempty=True)
    quobyte = f.Struct("QuobyteVolumeSource", 15, ptr=True, omitempty=True)
    azureDisk = f.Struct("AzureDiskVolumeSource", 16, ptr=True, omitempty=True)
    photonPersistentDisk = f.Struct("PhotonPersistentDiskVolumeSource", 17, ptr=True, omitempty=True)
    portworxVolume = f.Struct("PortworxVolumeSource", 18, ptr=True, omitempty=True)
    scaleIO = f.Struct("ScaleIOPersistentVolumeSource", 19, ptr=True, omitempty=True)
    local = f.Struct("LocalVolumeSource", 20, ptr=True, omitempty=True)
    storageos = f.Struct("StorageOSPersistentVolumeSource", 21, ptr=True, omitempty=True)
    csi = f.Struct("CSIPersistentVolumeSource", 22, ptr=True, omitempty=True)


class PersistentVolumeSpec(KubeSchema):
    """What a PersistentVolume should be."""

    capacity = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList")
    persistent_volume_source = f.Inline("PersistentVolumeSource", 2)
    accessModes = f.List(
        f.String(typedef="v1.PersistentVolumeAccessMode"),
        3,
        omitempty=True,
        enum=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        list_type="atomic",
    )
    claimRef = f.Struct("ObjectReference", 4, ptr=True, omitempty=True, struct_type="granular")
    persistentVolumeReclaimPolicy = f.String(
        5, omitempty=True, enum=("Delete", "Recycle", "Retain"), typedef="v1.PersistentVolumeReclaimPolicy"
    )
    storageClassName = f.String(6, omitempty=True)
    mountOptions = f.List(f.String(), 7, omitempty=True, list_type="atomic")
    volumeMode = f.String(8, ptr=True, omitempty=True, enum=("Block", "Filesystem"), typedef="v1.PersistentVolumeMode")
    nodeAffinity = f.Struct("VolumeNodeAffinity", 9, ptr=True, omitempty=True)
    volumeAttributesClassName = f.String(10, ptr=True, omitempty=True, gate="VolumeAttributesClass")


class PersistentVolumeStatus(KubeSchema):
    """What is observed of a PersistentVolume."""

    phase = f.String(
        1,
        omitempty=True,
        enum=("Available", "Bound", "Failed", "Pending", "Released"),
        typedef="v1.PersistentVolumePhase",
    )
    message = f.String(2, omitempty=True, doc="Why, for people.")
    reason = f.String(3, omitempty=True, doc="Why, in one word in CamelCase.")
    lastPhaseTransitionTime = f.Time(4, ptr=True, omitempty=True)


class PhotonPersistentDiskVolumeSource(KubeSchema):
    """Photon persistent disk volume source: part of PersistentVolumeSource.photonPersistentDisk, VolumeSource.photonPersistentDisk."""

    pdID = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)


class Pod(KubeObject):
    """One or more containers that run together on one node, with shared network and volumes."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PodSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("PodStatus", 3, omitempty=True, doc="What is observed.")


class PodAffinity(KubeSchema):
    """Pod affinity: part of Affinity.podAffinity."""

    requiredDuringSchedulingIgnoredDuringExecution = f.List("PodAffinityTerm", 1, omitempty=True, list_type="atomic")
    preferredDuringSchedulingIgnoredDuringExecution = f.List(
        "WeightedPodAffinityTerm", 2, omitempty=True, list_type="atomic"
    )


class PodAffinityTerm(KubeSchema):
    """Pod affinity term: part of PodAffinity.requiredDuringSchedulingIgnoredDuringExecution, PodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution, WeightedPodAffinityTerm.podAffinityTerm."""

    labelSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 1, ptr=True, omitempty=True)
    namespaces = f.List(f.String(), 2, omitempty=True, list_type="atomic")
    topologyKey = f.String(3, required=True)
    namespaceSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 4, ptr=True, omitempty=True)
    matchLabelKeys = f.List(f.String(), 5, omitempty=True, list_type="atomic")
    mismatchLabelKeys = f.List(f.String(), 6, omitempty=True, list_type="atomic")


class PodAntiAffinity(KubeSchema):
    """Pod anti affinity: part of Affinity.podAntiAffinity."""

    requiredDuringSchedulingIgnoredDuringExecution = f.List("PodAffinityTerm", 1, omitempty=True, list_type="atomic")
    preferredDuringSchedulingIgnoredDuringExecution = f.List(
        "WeightedPodAffinityTerm", 2, omitempty=True, list_type="atomic"
    )


class PodCertificateProjection(KubeSchema):
    """Pod certificate projection: part of VolumeProjection.podCertificate."""

    signerName = f.String(1, required=True, omitempty=True)
    keyType = f.String(2, required=True, omitempty=True)
    maxExpirationSeconds = f.Int32(3, ptr=True, omitempty=True)
    credentialBundlePath = f.String(4, omitempty=True)
    keyPath = f.String(5, omitempty=True)
    certificateChainPath = f.String(6, omitempty=True)
    userAnnotations = f.Map(f.String(), 7, omitempty=True)


class PodCondition(KubeSchema):
    """Pod condition: part of PodStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.PodConditionType")
    observedGeneration = f.Int64(7, omitempty=True, doc="The generation that the status speaks of.")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastProbeTime = f.Time(3, omitempty=True)
    lastTransitionTime = f.Time(4, omitempty=True, doc="When the condition last changed.")
    reason = f.String(5, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, omitempty=True, doc="Why, for people.")


class PodDNSConfig(KubeSchema):
    """Pod DNS config: part of PodSpec.dnsConfig."""

    nameservers = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    searches = f.List(f.String(), 2, omitempty=True, list_type="atomic")
    options = f.List("PodDNSConfigOption", 3, omitempty=True, list_type="atomic")


class PodDNSConfigOption(KubeSchema):
    """Pod DNS config option: part of PodDNSConfig.options."""

    name = f.String(1, omitempty=True)
    value = f.String(2, ptr=True, omitempty=True)


class PodExtendedResourceClaimStatus(KubeSchema):
    """Pod extended resource claim status: part of PodStatus.extendedResourceClaimStatus."""

    requestMappings = f.List("ContainerExtendedResourceRequest", 1, required=True, nullable=True, list_type="atomic")
    resourceClaimName = f.String(2, required=True)


class PodIP(KubeSchema):
    """Pod IP: part of PodStatus.podIPs."""

    ip = f.String(1, required=True)


class PodList(KubeObject):
    """A list of Pod objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Pod", 2, required=True, nullable=True, doc="The objects.")


class PodOS(KubeSchema):
    """Pod OS: part of PodSpec.os."""

    name = f.String(1, required=True, typedef="v1.OSName")


class PodReadinessGate(KubeSchema):
    """Pod readiness gate: part of PodSpec.readinessGates."""

    conditionType = f.String(1, required=True, typedef="v1.PodConditionType")


class PodResourceClaim(KubeSchema):
    """Pod resource claim: part of PodSpec.resourceClaims."""

    name = f.String(1, required=True)
    resourceClaimName = f.String(3, ptr=True, omitempty=True)
    resourceClaimTemplateName = f.String(4, ptr=True, omitempty=True)


class PodResourceClaimStatus(KubeSchema):
    """What is observed of a PodResourceClaim."""

    name = f.String(1, required=True)
    resourceClaimName = f.String(2, ptr=True, omitempty=True)


class PodSchedulingGate(KubeSchema):
    """Pod scheduling gate: part of PodSpec.schedulingGates."""

    name = f.String(1, required=True)


class PodSchedulingGroup(KubeSchema, unions=(f.Union("", {"podGroupName": "PodGroupName"}),)):
    """Pod scheduling group: part of PodSpec.schedulingGroup."""

    podGroupName = f.String(1, ptr=True, omitempty=True)


class PodSecurityContext(KubeSchema):
    """Rights and identity of all processes of a pod."""

    seLinuxOptions = f.Struct("SELinuxOptions", 1, ptr=True, omitempty=True)
    windowsOptions = f.Struct("WindowsSecurityContextOptions", 8, ptr=True, omitempty=True)
    runAsUser = f.Int64(2, ptr=True, omitempty=True)
    runAsGroup = f.Int64(6, ptr=True, omitempty=True)
    runAsNonRoot = f.Bool(3, ptr=True, omitempty=True)
    supplementalGroups = f.List(f.Int64(), 4, omitempty=True, list_type="atomic")
    supplementalGroupsPolicy = f.String(
        12,
        ptr=True,
        omitempty=True,
        enum=("Merge", "Strict"),
        typedef="v1.SupplementalGroupsPolicy",
        gate="SupplementalGroupsPolicy",
    )
    fsGroup = f.Int64(5, ptr=True, omitempty=True)
    sysctls = f.List("Sysctl", 7, omitempty=True, list_type="atomic")
    fsGroupChangePolicy = f.String(
        9, ptr=True, omitempty=True, enum=("Always", "OnRootMismatch"), typedef="v1.PodFSGroupChangePolicy"
    )
    seccompProfile = f.Struct("SeccompProfile", 10, ptr=True, omitempty=True)
    appArmorProfile = f.Struct("AppArmorProfile", 11, ptr=True, omitempty=True)
    seLinuxChangePolicy = f.String(
        13, ptr=True, omitempty=True, typedef="v1.PodSELinuxChangePolicy", gate="SELinuxChangePolicy"
    )


class PodSignature(KubeSchema, published=False):
    """Pod signature: part of PreferAvoidPodsEntry.podSignature."""

    podController = f.Struct("hyperkube_api.meta.v1:OwnerReference", 1, ptr=True, omitempty=True)


class PodSpec(KubeSchema, templated=True):
    """What a pod should be."""

    volumes = f.List(
        "Volume",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        doc="Storage that containers of the pod can mount.",
    )
    initContainers = f.List(
        "Container",
        20,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Containers that run one after the other before the others start.",
    )
    containers = f.List(
        "Container",
        2,
        required=True,
        nullable=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="The containers of the pod; at least one.",
    )
    ephemeralContainers = f.List(
        "EphemeralContainer",
        34,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Containers added to a running pod, for debugging.",
    )
    restartPolicy = f.String(
        3,
        omitempty=True,
        enum=("Always", "Never", "OnFailure"),
        doc="Whether ended containers start again.",
        typedef="v1.RestartPolicy",
    )
    terminationGracePeriodSeconds = f.Int64(
        4, ptr=True, omitempty=True, doc="The seconds between the wish to end and the kill."
    )
    activeDeadlineSeconds = f.Int64(5, ptr=True, omitempty=True, doc="The seconds after which the pod is ended.")
    dnsPolicy = f.String(
        6,
        omitempty=True,
        enum=("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
        typedef="v1.DNSPolicy",
        doc="Where names are looked up.",
    )
    nodeSelector = f.Map(f.String(), 7, omitempty=True, map_type="atomic", doc="Labels that the node must have.")
    serviceAccountName = f.String(8, omitempty=True, doc="The identity of the pod towards the API.")
    serviceAccount = f.String(9, omitempty=True, doc="An old name of serviceAccountName.")
    automountServiceAccountToken = f.Bool(
        21, ptr=True, omitempty=True, doc="Whether containers get a token of the service account."
    )
    nodeName = f.String(10, omitempty=True, doc="The node the pod runs on; set by the scheduler.")
    hostNetwork = f.Bool(11, omitempty=True, doc="Whether the pod uses the node's network.")
    hostPID = f.Bool(12, omitempty=True, doc="Whether the pod sees the node's processes.")
    hostIPC = f.Bool(13, omitempty=True, doc="Whether the pod shares the node's IPC.")
    shareProcessNamespace = f.Bool(
        27, ptr=True, omitempty=True, doc="Whether the containers see each other's processes."
    )
    securityContext = f.Struct(
        "PodSecurityContext", 14, ptr=True, omitempty=True, doc="Rights and identity of all containers."
    )
    imagePullSecrets = f.List(
        "LocalObjectReference",
        15,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Secrets with credentials for registries.",
    )
    hostname = f.String(16, omitempty=True, doc="The host name; the pod's name if empty.")
    subdomain = f.String(17, omitempty=True, doc="The part of the name between host name and namespace.")
    affinity = f.Struct(
        "Affinity", 18, ptr=True, omitempty=True, doc="What the scheduler should bring together or keep apart."
    )
    schedulerName = f.String(19, omitempty=True, doc="The scheduler that places the pod.")
    tolerations = f.List(
        "Toleration", 22, omitempty=True, list_type="atomic", doc="Taints that do not keep the pod away."
    )
    hostAliases = f.List(
        "HostAlias",
        23,
        omitempty=True,
        list_type="map",
        list_map_keys=("ip",),
        patch_strategy="merge",
        patch_merge_key="ip",
        doc="Lines added to the hosts file.",
    )
    priorityClassName = f.String(24, omitempty=True, doc="The name of the pod's priority.")
    priority = f.Int32(25, ptr=True, omitempty=True, doc="The priority as a number; taken from its class.")
    dnsConfig = f.Struct(
        "PodDNSConfig", 26, ptr=True, omitempty=True, doc="Name servers, search list and options for looking up names."
    )
    readinessGates = f.List(
        "PodReadinessGate",
        28,
        omitempty=True,
        list_type="atomic",
        doc="Further conditions that must be true for the pod to be ready.",
    )
    runtimeClassName = f.String(29, ptr=True, omitempty=True, doc="The way of running the containers.")
    enableServiceLinks = f.Bool(30, ptr=True, omitempty=True, doc="Whether Services appear as environment variables.")
    preemptionPolicy = f.String(
        31,
        ptr=True,
        omitempty=True,
        enum=("Never", "PreemptLowerPriority"),
        typedef="v1.PreemptionPolicy",
        doc="Whether the pod may displace others.",
    )
    overhead = f.Map(
        f.Quantity(),
        32,
        omitempty=True,
        typedef="v1.ResourceList",
        doc="What running the pod costs on top; taken from its RuntimeClass.",
    )
    topologySpreadConstraints = f.List(
        "TopologySpreadConstraint",
        33,
        omitempty=True,
        list_type="map",
        list_map_keys=("topologyKey", "whenUnsatisfiable"),
        patch_strategy="merge",
        patch_merge_key="topologyKey",
        doc="How evenly pods are spread.",
    )
    setHostnameAsFQDN = f.Bool(35, ptr=True, omitempty=True)
    os = f.Struct("PodOS", 36, ptr=True, omitempty=True, doc="The operating system the pod is made for.")
    hostUsers = f.Bool(37, ptr=True, omitempty=True, doc="Whether users are those of the node.")
    schedulingGates = f.List(
        "PodSchedulingGate",
        38,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Reasons not to schedule the pod yet.",
    )
    resourceClaims = f.List(
        "PodResourceClaim",
        39,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        gate="DynamicResourceAllocation",
        doc="Devices the pod needs.",
    )
    resources = f.Struct(
        "ResourceRequirements",
        40,
        ptr=True,
        omitempty=True,
        gate="PodLevelResources",
        doc="What the pod as a whole asks for and may use.",
    )
    hostnameOverride = f.String(41, ptr=True, omitempty=True, gate="HostnameOverride")
    schedulingGroup = f.Struct("PodSchedulingGroup", 43, ptr=True, omitempty=True, gate="GenericWorkload")


class PodStatus(KubeSchema):
    """What is observed of a pod."""

    observedGeneration = f.Int64(17, omitempty=True, doc="The generation that the status speaks of.")
    phase = f.String(
        1,
        omitempty=True,
        enum=("Failed", "Pending", "Running", "Succeeded", "Unknown"),
        typedef="v1.PodPhase",
        doc="Where in its life the pod is.",
    )
    conditions = f.List(
        "PodCondition",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    message = f.String(3, omitempty=True, doc="Why, for people.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    nominatedNodeName = f.String(11, omitempty=True, doc="The node on which others are displaced for the pod.")
    hostIP = f.String(5, omitempty=True, doc="The address of the node.")
    hostIPs = f.List("HostIP", 16, omitempty=True, list_type="atomic", patch_strategy="merge", patch_merge_key="ip")
    podIP = f.String(6, omitempty=True, doc="The address of the pod.")
    podIPs = f.List(
        "PodIP",
        12,
        omitempty=True,
        list_type="map",
        list_map_keys=("ip",),
        patch_strategy="merge",
        patch_merge_key="ip",
        doc="The addresses of the pod, one of each family.",
    )
    startTime = f.Time(7, ptr=True, omitempty=True, doc="When the kubelet took the pod.")
    initContainerStatuses = f.List(
        "ContainerStatus", 10, omitempty=True, list_type="atomic", doc="The state of each init container."
    )
    containerStatuses = f.List(
        "ContainerStatus", 8, omitempty=True, list_type="atomic", doc="The state of each container."
    )
    qosClass = f.String(
        9,
        omitempty=True,
        enum=("BestEffort", "Burstable", "Guaranteed"),
        typedef="v1.PodQOSClass",
        doc="The quality class that its requests and limits give it.",
    )
    ephemeralContainerStatuses = f.List("ContainerStatus", 13, omitempty=True, list_type="atomic")
    resize = f.String(14, omitempty=True, typedef="v1.PodResizeStatus", gate="InPlacePodVerticalScaling")
    resourceClaimStatuses = f.List(
        "PodResourceClaimStatus",
        15,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
        gate="DynamicResourceAllocation",
    )
    extendedResourceClaimStatus = f.Struct(
        "PodExtendedResourceClaimStatus", 18, ptr=True, omitempty=True, gate="DRAExtendedResource"
    )
    allocatedResources = f.Map(
        f.Quantity(), 19, omitempty=True, typedef="v1.ResourceList", gate="InPlacePodLevelResourcesVerticalScaling"
    )
    resources = f.Struct(
        "ResourceRequirements", 20, ptr=True, omitempty=True, gate="InPlacePodLevelResourcesVerticalScaling"
    )
    nodeAllocatableResourceClaimStatuses = f.List(
        "NodeAllocatableResourceClaimStatus", 21, omitempty=True, list_type="atomic", gate="DRANodeAllocatableResources"
    )


class PodStatusResult(KubeObject, published=False):
    """Pod status result."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    status = f.Struct("PodStatus", 2, omitempty=True, doc="What is observed.")


class PodTemplate(KubeObject):
    """A template for pods, kept on its own."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    template = f.Struct("PodTemplateSpec", 2, omitempty=True)


class PodTemplateList(KubeObject):
    """A list of PodTemplate objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodTemplate", 2, required=True, nullable=True, doc="The objects.")


class PodTemplateSpec(KubeSchema):
    """The pods to make: their metadata and spec."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Metadata of the pods to make.")
    spec = f.Struct("PodSpec", 2, omitempty=True, doc="What the pods should be.")


class PortworxVolumeSource(KubeSchema):
    """Portworx volume source: part of PersistentVolumeSource.portworxVolume, VolumeSource.portworxVolume."""

    volumeID = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    readOnly = f.Bool(3, omitempty=True)


class Preconditions(KubeSchema, published=False):
    """What must be true of the object for the request to be carried out."""

    uid = f.String(1, ptr=True, omitempty=True, typedef="types.UID")


class PreferAvoidPodsEntry(KubeSchema, published=False):
    """Prefer avoid pods entry: part of AvoidPods.preferAvoidPods."""

    podSignature = f.Struct("PodSignature", 1, required=True)
    evictionTime = f.Time(2, omitempty=True)
    reason = f.String(3, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(4, omitempty=True, doc="Why, for people.")


class PreferredSchedulingTerm(KubeSchema):
    """Preferred scheduling term: part of NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution."""

    weight = f.Int32(1, required=True)
    preference = f.Struct("NodeSelectorTerm", 2, required=True)


class Probe(KubeSchema):
    """A check that the kubelet makes on a container."""

    probe_handler = f.Inline("ProbeHandler", 1)
    initialDelaySeconds = f.Int32(2, omitempty=True, doc="The seconds before the first check.")
    timeoutSeconds = f.Int32(3, omitempty=True, doc="The seconds after which a check has failed.")
    periodSeconds = f.Int32(4, omitempty=True, doc="The seconds between checks.")
    successThreshold = f.Int32(5, omitempty=True, doc="How many successes in a row count.")
    failureThreshold = f.Int32(6, omitempty=True, doc="How many failures in a row count.")
    terminationGracePeriodSeconds = f.Int64(7, ptr=True, omitempty=True)


class ProbeHandler(KubeSchema, published=False):
    """Probe handler: part of Probe."""

    exec = f.Struct("ExecAction", 1, ptr=True, omitempty=True)
    httpGet = f.Struct("HTTPGetAction", 2, ptr=True, omitempty=True)
    tcpSocket = f.Struct("TCPSocketAction", 3, ptr=True, omitempty=True)
    grpc = f.Struct("GRPCAction", 4, ptr=True, omitempty=True)


class ProjectedVolumeSource(KubeSchema):
    """Projected volume source: part of VolumeSource.projected."""

    sources = f.List("VolumeProjection", 1, nullable=True, list_type="atomic")
    defaultMode = f.Int32(2, ptr=True, omitempty=True)


class QuobyteVolumeSource(KubeSchema):
    """Quobyte volume source: part of PersistentVolumeSource.quobyte, VolumeSource.quobyte."""

    registry = f.String(1, required=True)
    volume = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)
    user = f.String(4, omitempty=True)
    group = f.String(5, omitempty=True)
    tenant = f.String(6, omitempty=True)


class RBDPersistentVolumeSource(KubeSchema):
    """RBD persistent volume source: part of PersistentVolumeSource.rbd."""

    monitors = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    image = f.String(2, required=True)
    fsType = f.String(3, omitempty=True)
    pool = f.String(4, omitempty=True, default="rbd")
    user = f.String(5, omitempty=True, default="admin")
    keyring = f.String(6, omitempty=True, default="/etc/ceph/keyring")
    secretRef = f.Struct("SecretReference", 7, ptr=True, omitempty=True)
    readOnly = f.Bool(8, omitempty=True)


class RBDVolumeSource(KubeSchema):
    """RBD volume source: part of VolumeSource.rbd."""

    monitors = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    image = f.String(2, required=True)
    fsType = f.String(3, omitempty=True)
    pool = f.String(4, omitempty=True, default="rbd")
    user = f.String(5, omitempty=True, default="admin")
    keyring = f.String(6, omitempty=True, default="/etc/ceph/keyring")
    secretRef = f.Struct("LocalObjectReference", 7, ptr=True, omitempty=True)
    readOnly = f.Bool(8, omitempty=True)


class RangeAllocation(KubeObject, published=False):
    """Range allocation."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    range = f.String(2, required=True)
    data = f.Bytes(3, required=True, nullable=True, format="byte")


class ReplicationController(KubeObject):
    """Keeps a number of equal pods running; ReplicaSet is its successor."""

    metadata = f.Struct(
        "hyperkube_api.meta.v1:ObjectMeta",
        1,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:subfield(name)=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:subfield(name)=+k8s:format=k8s-long-name',
        ),
        doc="Standard metadata of the object.",
    )
    spec = f.Struct("ReplicationControllerSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ReplicationControllerStatus", 3, omitempty=True, doc="What is observed.")


class ReplicationControllerCondition(KubeSchema):
    """Replication controller condition: part of ReplicationControllerStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.ReplicationControllerConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class ReplicationControllerList(KubeObject):
    """A list of ReplicationController objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ReplicationController", 2, required=True, nullable=True, doc="The objects.")


class ReplicationControllerSpec(KubeSchema):
    """What a ReplicationController should be."""

    replicas = f.Int32(
        1,
        ptr=True,
        omitempty=True,
        default=1,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:minimum=0'),
    )
    minReadySeconds = f.Int32(
        4,
        omitempty=True,
        default=0,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:minimum=0'),
    )
    selector = f.Map(f.String(), 2, omitempty=True, map_type="atomic")
    template = f.Struct("PodTemplateSpec", 3, ptr=True, omitempty=True)


class ReplicationControllerStatus(KubeSchema):
    """What is observed of a ReplicationController."""

    replicas = f.Int32(1, required=True)
    fullyLabeledReplicas = f.Int32(2, omitempty=True)
    readyReplicas = f.Int32(4, omitempty=True)
    availableReplicas = f.Int32(5, omitempty=True)
    observedGeneration = f.Int64(3, omitempty=True, doc="The generation that the status speaks of.")
    conditions = f.List(
        "ReplicationControllerCondition",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class ResourceClaim(KubeSchema):
    """A wish for devices that a pod needs."""

    name = f.String(1, required=True)
    request = f.String(2, omitempty=True)


class ResourceFieldSelector(KubeSchema, struct_type="atomic"):
    """Resource field selector: part of DownwardAPIVolumeFile.resourceFieldRef, EnvVarSource.resourceFieldRef."""

    containerName = f.String(1, omitempty=True)
    resource = f.String(2, required=True)
    divisor = f.Quantity(3, omitempty=True)


class ResourceHealth(KubeSchema):
    """Resource health: part of ResourceStatus.resources."""

    resourceID = f.String(1, required=True, typedef="v1.ResourceID")
    health = f.String(2, omitempty=True, typedef="v1.ResourceHealthStatus")
    message = f.String(6, ptr=True, omitempty=True, gate="ResourceHealthStatusMessage", doc="Why, for people.")


class ResourceQuota(KubeObject):
    """Limits what a namespace may use in total."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ResourceQuotaSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ResourceQuotaStatus", 3, omitempty=True, doc="What is observed.")


class ResourceQuotaList(KubeObject):
    """A list of ResourceQuota objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ResourceQuota", 2, required=True, nullable=True, doc="The objects.")


class ResourceQuotaSpec(KubeSchema):
    """What a ResourceQuota should be."""

    hard = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList")
    scopes = f.List(
        f.String(typedef="v1.ResourceQuotaScope"),
        2,
        omitempty=True,
        enum=(
            "BestEffort",
            "CrossNamespacePodAffinity",
            "NotBestEffort",
            "NotTerminating",
            "PriorityClass",
            "Terminating",
            "VolumeAttributesClass",
        ),
        list_type="atomic",
    )
    scopeSelector = f.Struct("ScopeSelector", 3, ptr=True, omitempty=True)


class ResourceQuotaStatus(KubeSchema):
    """What is observed of a ResourceQuota."""

    hard = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList")
    used = f.Map(f.Quantity(), 2, omitempty=True, typedef="v1.ResourceList")


class ResourceRequirements(KubeSchema):
    """What is asked for and what is allowed of cpu, memory and other resources."""

    limits = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList", doc="The most it may use.")
    requests = f.Map(f.Quantity(), 2, omitempty=True, typedef="v1.ResourceList", doc="The least it needs.")
    claims = f.List(
        "ResourceClaim",
        3,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        gate="DynamicResourceAllocation",
        doc="The devices it uses.",
    )


class ResourceStatus(KubeSchema):
    """Resource status: part of ContainerStatus.allocatedResourcesStatus."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    resources = f.List("ResourceHealth", 2, omitempty=True, list_type="map", list_map_keys=("resourceID",))


class SELinuxOptions(KubeSchema):
    """SE linux options: part of PodSecurityContext.seLinuxOptions, SecurityContext.seLinuxOptions."""

    user = f.String(1, omitempty=True)
    role = f.String(2, omitempty=True)
    type = f.String(3, omitempty=True)
    level = f.String(4, omitempty=True)


class ScaleIOPersistentVolumeSource(KubeSchema):
    """Scale IO persistent volume source: part of PersistentVolumeSource.scaleIO."""

    gateway = f.String(1, required=True)
    system = f.String(2, required=True)
    secretRef = f.Struct("SecretReference", 3, required=True, ptr=True, nullable=True)
    sslEnabled = f.Bool(4, omitempty=True)
    protectionDomain = f.String(5, omitempty=True)
    storagePool = f.String(6, omitempty=True)
    storageMode = f.String(7, omitempty=True, default="ThinProvisioned")
    volumeName = f.String(8, omitempty=True)
    fsType = f.String(9, omitempty=True, default="xfs")
    readOnly = f.Bool(10, omitempty=True)


class ScaleIOVolumeSource(KubeSchema):
    """Scale IO volume source: part of VolumeSource.scaleIO."""

    gateway = f.String(1, required=True)
    system = f.String(2, required=True)
    secretRef = f.Struct("LocalObjectReference", 3, required=True, ptr=True, nullable=True)
    sslEnabled = f.Bool(4, omitempty=True)
    protectionDomain = f.String(5, omitempty=True)
    storagePool = f.String(6, omitempty=True)
    storageMode = f.String(7, omitempty=True, default="ThinProvisioned")
    volumeName = f.String(8, omitempty=True)
    fsType = f.String(9, omitempty=True, default="xfs")
    readOnly = f.Bool(10, omitempty=True)


class ScopeSelector(KubeSchema, struct_type="atomic"):
    """Scope selector: part of ResourceQuotaSpec.scopeSelector."""

    matchExpressions = f.List("ScopedResourceSelectorRequirement", 1, omitempty=True, list_type="atomic")


class ScopedResourceSelectorRequirement(KubeSchema):
    """Scoped resource selector requirement: part of ScopeSelector.matchExpressions."""

    scopeName = f.String(
        1,
        required=True,
        enum=(
            "BestEffort",
            "CrossNamespacePodAffinity",
            "NotBestEffort",
            "NotTerminating",
            "PriorityClass",
            "Terminating",
            "VolumeAttributesClass",
        ),
        typedef="v1.ResourceQuotaScope",
    )
    operator = f.String(
        2, required=True, enum=("DoesNotExist", "Exists", "In", "NotIn"), typedef="v1.ScopeSelectorOperator"
    )
    values = f.List(f.String(), 3, omitempty=True, list_type="atomic")


class SeccompProfile(KubeSchema, unions=(f.Union("type", {"localhostProfile": "LocalhostProfile"}),)):
    """Seccomp profile: part of PodSecurityContext.seccompProfile, SecurityContext.seccompProfile."""

    type = f.String(
        1, required=True, enum=("Localhost", "RuntimeDefault", "Unconfined"), typedef="v1.SeccompProfileType"
    )
    localhostProfile = f.String(2, ptr=True, omitempty=True)


class SecretEnvSource(KubeSchema):
    """Secret env source: part of EnvFromSource.secretRef."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    optional = f.Bool(2, ptr=True, omitempty=True)


class SecretKeySelector(KubeSchema, struct_type="atomic"):
    """Secret key selector: part of EnvVarSource.secretKeyRef."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    key = f.String(2, required=True)
    optional = f.Bool(3, ptr=True, omitempty=True)


class SecretProjection(KubeSchema):
    """Secret projection: part of VolumeProjection.secret."""

    local_object_reference = f.Inline("LocalObjectReference", 1)
    items = f.List("KeyToPath", 2, omitempty=True, list_type="atomic", doc="The objects.")
    optional = f.Bool(4, ptr=True, omitempty=True)


class SecretReference(KubeSchema, struct_type="atomic"):
    """Secret reference: part of CSIPersistentVolumeSource.controllerPublishSecretRef, CSIPersistentVolumeSource.nodeStageSecretRef, CSIPersistentVolumeSource.nodePublishSecretRef and others."""

    name = f.String(1, omitempty=True)
    namespace = f.String(2, omitempty=True)


class SecretVolumeSource(KubeSchema):
    """Secret volume source: part of VolumeSource.secret."""

    secretName = f.String(1, omitempty=True)
    items = f.List("KeyToPath", 2, omitempty=True, list_type="atomic", doc="The objects.")
    defaultMode = f.Int32(3, ptr=True, omitempty=True)
    optional = f.Bool(4, ptr=True, omitempty=True)


class SecurityContext(KubeSchema):
    """Rights and identity of a container's processes."""

    capabilities = f.Struct("Capabilities", 1, ptr=True, omitempty=True)
    privileged = f.Bool(2, ptr=True, omitempty=True)
    seLinuxOptions = f.Struct("SELinuxOptions", 3, ptr=True, omitempty=True)
    windowsOptions = f.Struct("WindowsSecurityContextOptions", 10, ptr=True, omitempty=True)
    runAsUser = f.Int64(4, ptr=True, omitempty=True)
    runAsGroup = f.Int64(8, ptr=True, omitempty=True)
    runAsNonRoot = f.Bool(5, ptr=True, omitempty=True)
    readOnlyRootFilesystem = f.Bool(6, ptr=True, omitempty=True)
    allowPrivilegeEscalation = f.Bool(7, ptr=True, omitempty=True)
    procMount = f.String(9, ptr=True, omitempty=True, enum=("Default", "Unmasked"), typedef="v1.ProcMountType")
    seccompProfile = f.Struct("SeccompProfile", 11, ptr=True, omitempty=True)
    appArmorProfile = f.Struct("AppArmorProfile", 12, ptr=True, omitempty=True)


class ServiceAccountTokenProjection(KubeSchema):
    """Service account token projection: part of VolumeProjection.serviceAccountToken."""

    audience = f.String(1, omitempty=True)
    expirationSeconds = f.Int64(2, ptr=True, omitempty=True)
    path = f.String(3, required=True)


class SleepAction(KubeSchema):
    """Sleep action: part of LifecycleHandler.sleep."""

    seconds = f.Int64(1, required=True)


class StorageOSPersistentVolumeSource(KubeSchema):
    """Storage OS persistent volume source: part of PersistentVolumeSource.storageos."""

    volumeName = f.String(1, omitempty=True)
    volumeNamespace = f.String(2, omitempty=True)
    fsType = f.String(3, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)
    secretRef = f.Struct("ObjectReference", 5, ptr=True, omitempty=True)


class StorageOSVolumeSource(KubeSchema):
    """Storage OS volume source: part of VolumeSource.storageos."""

    volumeName = f.String(1, omitempty=True)
    volumeNamespace = f.String(2, omitempty=True)
    fsType = f.String(3, omitempty=True)
    readOnly = f.Bool(4, omitempty=True)
    secretRef = f.Struct("LocalObjectReference", 5, ptr=True, omitempty=True)


class Sysctl(KubeSchema):
    """Sysctl: part of PodSecurityContext.sysctls."""

    name = f.String(1, required=True)
    value = f.String(2, required=True)


class TCPSocketAction(KubeSchema):
    """TCP socket action: part of LifecycleHandler.tcpSocket, ProbeHandler.tcpSocket."""

    port = f.IntOrString(1, required=True)
    host = f.String(2, omitempty=True)


class Toleration(KubeSchema):
    """A taint that does not keep the pod away."""

    key = f.String(1, omitempty=True)
    operator = f.String(2, omitempty=True, enum=("Equal", "Exists", "Gt", "Lt"), typedef="v1.TolerationOperator")
    value = f.String(3, omitempty=True)
    effect = f.String(4, omitempty=True, enum=("NoExecute", "NoSchedule", "PreferNoSchedule"), typedef="v1.TaintEffect")
    tolerationSeconds = f.Int64(5, ptr=True, omitempty=True)


class TopologySpreadConstraint(KubeSchema):
    """How evenly pods are spread over zones, nodes or other domains."""

    maxSkew = f.Int32(1, required=True)
    topologyKey = f.String(2, required=True)
    whenUnsatisfiable = f.String(
        3, required=True, enum=("DoNotSchedule", "ScheduleAnyway"), typedef="v1.UnsatisfiableConstraintAction"
    )
    labelSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 4, ptr=True, omitempty=True)
    minDomains = f.Int32(5, ptr=True, omitempty=True)
    nodeAffinityPolicy = f.String(
        6, ptr=True, omitempty=True, enum=("Honor", "Ignore"), typedef="v1.NodeInclusionPolicy"
    )
    nodeTaintsPolicy = f.String(7, ptr=True, omitempty=True, enum=("Honor", "Ignore"), typedef="v1.NodeInclusionPolicy")
    matchLabelKeys = f.List(f.String(), 8, omitempty=True, list_type="atomic")


class TypedLocalObjectReference(KubeSchema, struct_type="atomic"):
    """Typed local object reference: part of PersistentVolumeClaimSpec.dataSource."""

    apiGroup = f.String(1, ptr=True, nullable=True)
    kind = f.String(2, required=True)
    name = f.String(3, required=True)


class TypedObjectReference(KubeSchema):
    """Typed object reference: part of PersistentVolumeClaimSpec.dataSourceRef."""

    apiGroup = f.String(1, ptr=True, nullable=True)
    kind = f.String(2, required=True)
    name = f.String(3, required=True)
    namespace = f.String(4, ptr=True, omitempty=True, gate="CrossNamespaceVolumeDataSource")


class Volume(KubeSchema):
    """Storage of a pod, by name; exactly one kind of source is set."""

    name = f.String(1, required=True)
    volume_source = f.Inline("VolumeSource", 2)


class VolumeDevice(KubeSchema):
    """Volume device: part of Container.volumeDevices, EphemeralContainerCommon.volumeDevices."""

    name = f.String(1, required=True)
    devicePath = f.String(2, required=True)


class VolumeMount(KubeSchema):
    """Where in a container a volume appears."""

    name = f.String(1, required=True, doc="The volume.")
    readOnly = f.Bool(2, omitempty=True, doc="Whether it is read-only.")
    recursiveReadOnly = f.String(7, ptr=True, omitempty=True, typedef="v1.RecursiveReadOnlyMode")
    mountPath = f.String(3, required=True, doc="The path in the container.")
    subPath = f.String(4, omitempty=True, doc="The path in the volume to mount.")
    mountPropagation = f.String(
        5,
        ptr=True,
        omitempty=True,
        enum=("Bidirectional", "HostToContainer", "None"),
        typedef="v1.MountPropagationMode",
    )
    subPathExpr = f.String(6, omitempty=True)


class VolumeMountStatus(KubeSchema):
    """What is observed of a VolumeMount."""

    name = f.String(1, required=True)
    mountPath = f.String(2, required=True)
    readOnly = f.Bool(3, omitempty=True)
    recursiveReadOnly = f.String(4, ptr=True, omitempty=True, typedef="v1.RecursiveReadOnlyMode")
    volumeStatus = f.Struct("VolumeStatus", 5, ptr=True, omitempty=True)


class VolumeNodeAffinity(KubeSchema):
    """Volume node affinity: part of PersistentVolumeSpec.nodeAffinity."""

    required = f.Struct("NodeSelector", 1, ptr=True, omitempty=True)


class VolumeProjection(KubeSchema):
    """Volume projection: part of ProjectedVolumeSource.sources."""

    secret = f.Struct("SecretProjection", 1, ptr=True, omitempty=True)
    downwardAPI = f.Struct("DownwardAPIProjection", 2, ptr=True, omitempty=True)
    configMap = f.Struct("ConfigMapProjection", 3, ptr=True, omitempty=True)
    serviceAccountToken = f.Struct("ServiceAccountTokenProjection", 4, ptr=True, omitempty=True)
    clusterTrustBundle = f.Struct(
        "ClusterTrustBundleProjection", 5, ptr=True, omitempty=True, gate="ClusterTrustBundleProjection"
    )
    podCertificate = f.Struct("PodCertificateProjection", 6, ptr=True, omitempty=True, gate="PodCertificateProjection")


class VolumeResourceRequirements(KubeSchema):
    """Volume resource requirements: part of PersistentVolumeClaimSpec.resources."""

    limits = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList")
    requests = f.Map(f.Quantity(), 2, omitempty=True, typedef="v1.ResourceList")


class VolumeSource(KubeSchema, published=False):
    """Volume source: part of Volume."""

    hostPath = f.Struct("HostPathVolumeSource", 1, ptr=True, omitempty=True)
    emptyDir = f.Struct("EmptyDirVolumeSource", 2, ptr=True, omitempty=True)
    gcePersistentDisk = f.Struct("GCEPersistentDiskVolumeSource", 3, ptr=True, omitempty=True)
    awsElasticBlockStore = f.Struct("AWSElasticBlockStoreVolumeSource", 4, ptr=True, omitempty=True)
    gitRepo = f.Struct("GitRepoVolumeSource", 5, ptr=True, omitempty=True)
    secret = f.Struct("SecretVolumeSource", 6, ptr=True, omitempty=True)
    nfs = f.Struct("NFSVolumeSource", 7, ptr=True, omitempty=True)
    iscsi = f.Struct("ISCSIVolumeSource", 8, ptr=True, omitempty=True)
    glusterfs = f.Struct("GlusterfsVolumeSource", 9, ptr=True, omitempty=True)
    persistentVolumeClaim = f.Struct("PersistentVolumeClaimVolumeSource", 10, ptr=True, omitempty=True)
    rbd = f.Struct("RBDVolumeSource", 11, ptr=True, omitempty=True)
    flexVolume = f.Struct("FlexVolumeSource", 12, ptr=True, omitempty=True)
    cinder = f.Struct("CinderVolumeSource", 13, ptr=True, omitempty=True)
    cephfs = f.Struct("CephFSVolumeSource", 14, ptr=True, omitempty=True)
    flocker = f.Struct("FlockerVolumeSource", 15, ptr=True, omitempty=True)
    downwardAPI = f.Struct("DownwardAPIVolumeSource", 16, ptr=True, omitempty=True)
    fc = f.Struct("FCVolumeSource", 17, ptr=True, omitempty=True)
    azureFile = f.Struct("AzureFileVolumeSource", 18, ptr=True, omitempty=True)
    configMap = f.Struct("ConfigMapVolumeSource", 19, ptr=True, omitempty=True)
    vsphereVolume = f.Struct("VsphereVirtualDiskVolumeSource", 20, ptr=True, omitempty=True)
    quobyte = f.Struct("QuobyteVolumeSource", 21, ptr=True, omitempty=True)
    azureDisk = f.Struct("AzureDiskVolumeSource", 22, ptr=True, omitempty=True)
    photonPersistentDisk = f.Struct("PhotonPersistentDiskVolumeSource", 23, ptr=True, omitempty=True)
    projected = f.Struct("ProjectedVolumeSource", 26, ptr=True, omitempty=True)
    portworxVolume = f.Struct("PortworxVolumeSource", 24, ptr=True, omitempty=True)
    scaleIO = f.Struct("ScaleIOVolumeSource", 25, ptr=True, omitempty=True)
    storageos = f.Struct("StorageOSVolumeSource", 27, ptr=True, omitempty=True)
    csi = f.Struct("CSIVolumeSource", 28, ptr=True, omitempty=True)
    ephemeral = f.Struct("EphemeralVolumeSource", 29, ptr=True, omitempty=True)
    image = f.Struct("ImageVolumeSource", 30, ptr=True, omitempty=True)


class VolumeStatus(KubeSchema):
    """What is observed of a Volume."""

    image = f.Struct("ImageVolumeStatus", 1, ptr=True, omitempty=True, gate="ImageVolumeWithDigest")


class VsphereVirtualDiskVolumeSource(KubeSchema):
    """Vsphere virtual disk volume source: part of PersistentVolumeSource.vsphereVolume, VolumeSource.vsphereVolume."""

    volumePath = f.String(1, required=True)
    fsType = f.String(2, omitempty=True)
    storagePolicyName = f.String(3, omitempty=True)
    storagePolicyID = f.String(4, omitempty=True)


class WeightedPodAffinityTerm(KubeSchema):
    """Weighted pod affinity term: part of PodAffinity.preferredDuringSchedulingIgnoredDuringExecution, PodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution."""

    weight = f.Int32(1, required=True)
    podAffinityTerm = f.Struct("PodAffinityTerm", 2, required=True)


class WindowsSecurityContextOptions(KubeSchema):
    """Windows security context options: part of PodSecurityContext.windowsOptions, SecurityContext.windowsOptions."""

    gmsaCredentialSpecName = f.String(1, ptr=True, omitempty=True)
    gmsaCredentialSpec = f.String(2, ptr=True, omitempty=True)
    runAsUserName = f.String(3, ptr=True, omitempty=True)
    hostProcess = f.Bool(4, ptr=True, omitempty=True)
