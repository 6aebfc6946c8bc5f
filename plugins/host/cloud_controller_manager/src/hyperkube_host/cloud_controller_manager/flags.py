"""The cloud controller manager's own options.

Source: kubernetes ``staging/src/k8s.io/cloud-provider/options/options.go``.
"""

from hyperkube_lib.controller_manager.flags import manager_flags

from hyperkube.plugin.flags import ADDRESS, BOOL, INT, LIST, STRING, Flag, section, unbuilt

FLAGS = manager_flags(
    10258,
    section(
        "Generic",
        *unbuilt(
            Flag(
                "external-cloud-volume-plugin",
                STRING,
                "",
                "no effect: volumes are made and attached by kube-controller-manager",
            ),
            Flag("allow-untagged-cloud", BOOL, False, "no effect: each provider says whether it needs a cluster id"),
            Flag("webhooks", LIST, "", "no effect: providers have no admission webhooks"),
            Flag("webhook-bind-address", ADDRESS, "0.0.0.0", "no effect: providers have no admission webhooks"),
            Flag("webhook-cert-dir", STRING, "", "no effect: providers have no admission webhooks"),
            Flag("webhook-secure-port", INT, 10260, "no effect: providers have no admission webhooks"),
        ),
    ),
)
