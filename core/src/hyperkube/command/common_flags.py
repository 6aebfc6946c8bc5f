"""Options that every server has."""

from hyperkube.plugin.flags import BOOL, DURATION, FLOAT, GATES, INT, LIST, STRING, Flag, section

GLOBAL = section(
    "Global",
    Flag("help", BOOL, False, "print this help and exit", aliases=()),
    Flag("version", BOOL, False, "print the version and exit"),
    Flag("v", INT, 0, "log level: 0 what an operator must see, 2 the usual detail, 4 debugging"),
    Flag("feature-gates", GATES, "", "feature=true|false pairs, comma-separated"),
    Flag("plugin-config", STRING, "", "YAML or TOML file with a table of settings per plugin, named FAMILY.NAME"),
)

DEBUGGING = section(
    "Debugging",
    Flag("profiling", BOOL, True, "serve profiles under /debug/pprof/", accepted=True),
    Flag("contention-profiling", BOOL, False, "no effect: Python has no profile of locks", accepted=True),
)

PROFILING = section(
    "Debugging",
    Flag("profiling", BOOL, True, "serve profiles under /debug/pprof/"),
    Flag("contention-profiling", BOOL, False, "no effect: Python has no profile of locks", accepted=True),
)

API_CLIENT = section(
    "API client",
    Flag("kubeconfig", STRING, "", "file with the API server's address and this process's credentials"),
    Flag("master", STRING, "", "the API server's address; overrides the kubeconfig's"),
    Flag("kube-api-content-type", STRING, "application/json", "no effect: the client speaks JSON", accepted=True),
    Flag("kube-api-qps", FLOAT, 0.0, "requests per second to the API server; 0 no limit"),
    Flag("kube-api-burst", INT, 30, "requests that --kube-api-qps lets through at once"),
)

LEADER_ELECTION = section(
    "Leader election",
    Flag("leader-elect", BOOL, True, "let only one of several processes work; the others wait"),
    Flag("leader-elect-lease-duration", DURATION, "15s", "how long others wait before they take over"),
    Flag("leader-elect-renew-deadline", DURATION, "10s", "the leader gives up when it could not renew for so long"),
    Flag("leader-elect-retry-period", DURATION, "2s", "pause between two tries"),
    Flag("leader-elect-resource-lock", STRING, "leases", "kind of the lock object: leases"),
    Flag("leader-elect-resource-name", STRING, "", "name of the lock object; the server's own name unless given"),
    Flag("leader-elect-resource-namespace", STRING, "kube-system", "namespace of the lock object"),
)

TLS_FILES = (
    Flag("tls-cert-file", STRING, "", "certificate of the HTTPS port; self-signed unless given"),
    Flag("tls-private-key-file", STRING, "", "its private key"),
)

TLS_SERVING = (
    Flag("tls-cipher-suites", LIST, "", "cipher suites of TLS 1.2, by their IANA names; OpenSSL's choice if empty"),
    Flag("tls-min-version", STRING, "", "VersionTLS12 (the default) or VersionTLS13; 10 and 11 as OpenSSL allows"),
    Flag("permit-port-sharing", BOOL, False, "listen with SO_REUSEPORT"),
    Flag("permit-address-sharing", BOOL, False, "no effect: SO_REUSEADDR is always set", accepted=True),
)

SECURE_SERVING = section(
    "Secure serving", *TLS_FILES, Flag("cert-dir", STRING, "", "folder for generated certificates"), *TLS_SERVING
)


REQUEST_HEADER = (
    Flag("requestheader-client-ca-file", STRING, "", "CA of the front proxy"),
    Flag("requestheader-allowed-names", LIST, "", "common names the front proxy may have; any unless given"),
    Flag("requestheader-username-headers", LIST, "x-remote-user", "headers that carry the user"),
    Flag("requestheader-group-headers", LIST, "x-remote-group", "headers that carry the groups"),
    Flag("requestheader-extra-headers-prefix", LIST, "x-remote-extra-", "prefixes of headers with extra values"),
)


def delegated_auth(*, tolerant: bool) -> tuple[Flag, ...]:
    """Return the options of a server that asks the API server about its clients.

    Args:
        tolerant: the default of ``--authentication-tolerate-lookup-failure``.
    """
    return section(
        "Delegated authentication",
        Flag("authentication-kubeconfig", STRING, "", "credentials to ask the API server who a client is"),
        Flag("authentication-skip-lookup", BOOL, False, "do not look the clients' CA up in the cluster"),
        Flag("authentication-tolerate-lookup-failure", BOOL, tolerant, "go on without it when that look-up fails"),
        Flag("authorization-kubeconfig", STRING, "", "credentials to ask the API server what a client may do"),
        Flag("authorization-always-allow-paths", LIST, "/healthz,/readyz,/livez", "paths open to all users"),
        Flag("client-ca-file", STRING, "", "CA of the clients' certificates; looked up in the cluster unless given"),
        *REQUEST_HEADER,
    )
