"""The kubelet's configuration as ``/configz`` shows it: the fields of a KubeletConfiguration.

Source: kubernetes ``staging/src/k8s.io/kubelet/config/v1beta1/types.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.options import KubeletOptions

from hyperkube.machinery.objects import Object


def configuration(options: KubeletOptions) -> Object:
    """Return the configuration."""
    return {
        "enableServer": True,
        "staticPodPath": options.sources.manifest_path,
        "staticPodURL": options.sources.manifest_url,
        "syncFrequency": f"{options.pods.sync_seconds:g}s",
        "fileCheckFrequency": f"{options.sources.file_check_seconds:g}s",
        "httpCheckFrequency": f"{options.sources.http_check_seconds:g}s",
        "port": options.server.port,
        "authentication": {
            "x509": {"clientCAFile": options.server.client_ca_file},
            "webhook": {"enabled": options.server.token_webhook},
            "anonymous": {"enabled": options.server.anonymous},
        },
        "authorization": {"mode": options.server.authorization_mode},
        "clusterDomain": options.pods.cluster_domain,
        "clusterDNS": list(options.pods.cluster_dns),
        "nodeStatusUpdateFrequency": f"{options.node.status_update_seconds:g}s",
        "nodeStatusReportFrequency": f"{options.node.status_report_seconds:g}s",
        "nodeLeaseDurationSeconds": options.node.lease_seconds,
        "maxPods": options.node.max_pods,
        "containerLogMaxSize": str(options.pods.log_max_bytes),
        "containerLogMaxFiles": options.pods.log_max_files,
    }
