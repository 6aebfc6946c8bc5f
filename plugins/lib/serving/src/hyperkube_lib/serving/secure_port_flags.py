"""What a server that asks the API server about its clients has beside the flags of ``delegated_auth``.

Sources: kubernetes ``staging/src/k8s.io/apiserver/pkg/server/options`` (authentication.go, authorization.go).
"""

from hyperkube.plugin.flags import DURATION, LIST, Flag, section, unbuilt

FLAGS = section(
    "Delegated authentication",
    Flag("requestheader-uid-headers", LIST, "", "headers that carry the uid"),
    Flag("authentication-token-webhook-cache-ttl", DURATION, "10s", "how long answers about tokens are kept"),
    Flag("authorization-webhook-cache-authorized-ttl", DURATION, "10s", "how long a yes is kept"),
    Flag("authorization-webhook-cache-unauthorized-ttl", DURATION, "10s", "how long a no is kept"),
    *unbuilt(Flag("tls-sni-cert-key", LIST, "", "no effect: one certificate is served, whatever name is asked for")),
)
