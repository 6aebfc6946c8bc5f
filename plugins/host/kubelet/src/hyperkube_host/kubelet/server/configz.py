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
        "staticPodPath": options.manifest_path,
        "staticPodURL": options.manifest_url,
        "syncFrequency": f"{options.sync_seconds:g}s",
        "fileCheckFrequency": f"{options.file_check_seconds:g}s",
        "httpCheckFrequency": f"{options.http_check_seconds:g}s",
        "port": options.port,
        "authentication": {
            "x509": {"clientCAFile": options.client_ca_file},
            "webhook": {"enabled": options.token_webhook},
            "anonymous": {"enabled": options.anonymous},
        },
        "authorization": {"mode": options.authorization_mode},
        "clusterDomain": options.cluster_domain,
        "clusterDNS": list(options.cluster_dns),
        "nodeStatusUpdateFrequency": f"{options.status_update_seconds:g}s",
        "nodeStatusReportFrequency": f"{options.status_report_seconds:g}s",
        "nodeLeaseDurationSeconds": options.lease_seconds,
        "maxPods": options.max_pods,
        "containerLogMaxSize": str(options.log_max_bytes),
        "containerLogMaxFiles": options.log_max_files,
    }
