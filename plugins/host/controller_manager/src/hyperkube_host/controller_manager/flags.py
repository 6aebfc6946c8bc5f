"""The controller manager's own options: Kubernetes 1.36's, and those of the 1.0-1.15 line."""

from hyperkube_lib.controller_manager.flags import manager_flags

from hyperkube.plugin.flags import BOOL, INT, LIST, STRING, Flag, section, unbuilt

FLAGS = manager_flags(
    10257,
    section(
        "Generic",
        Flag("enable-garbage-collector", BOOL, True, "run the controller garbagecollector"),
        Flag(
            "enable-horizontal-pod-autoscaler",
            BOOL,
            True,
            "run the controller horizontalpodautoscaling",
            deprecated="use --controllers=*,-horizontalpodautoscaling",
        ),
        Flag(
            "external-cloud-volume-plugin",
            STRING,
            "",
            "with --cloud-provider=external the provider whose disks are volumes; --cloud-config configures it",
        ),
        *unbuilt(
            Flag("register-retry-count", INT, 10, "no effect: kubelets register their nodes"),
            Flag(
                "allow-untagged-cloud", BOOL, False, "no effect: a cloud without a cluster id is the provider's affair"
            ),
            Flag(
                "enable-leader-migration", BOOL, False, "no effect: each manager has one lock for all its controllers"
            ),
            Flag("leader-migration-config", STRING, "", "no effect: each manager has one lock for all its controllers"),
            Flag("concurrent-resource-claim-syncs", INT, 10, "no effect: claims are synced one after another"),
        ),
    ),
    section(
        "Volumes",
        Flag("csi-endpoint", LIST, "", "NAME=unix:///PATH of CSI drivers whose controller service is called"),
        Flag(
            "csi-plugins-registry",
            STRING,
            "",
            "a kubelet's plugins_registry on this machine, whose CSI drivers are called as well",
        ),
    ),
    section(
        "Serviceaccount controller",
        Flag("root-ca-file", STRING, "", "CA that is published into every namespace"),
    ),
)
