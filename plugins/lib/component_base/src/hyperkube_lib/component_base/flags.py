"""The flags that every server has for how it begins; `hyperkube_lib.component_base.start.begin` reads them."""

from hyperkube.plugin.flags import BOOL, DURATION, INT, LIST, MAP, STRING, Flag, section, unbuilt

FLAGS = (
    *section("Generic", Flag("compat", STRING, "", "1.0 or 1.5: the ports and modes of that release as defaults")),
    *section(
        "Logs",
        Flag("logtostderr", BOOL, True, "log to standard error instead of to files"),
        Flag("alsologtostderr", BOOL, False, "log to standard error as well as to files; without files no effect"),
        Flag("stderrthreshold", STRING, "2", "with files: lines of this severity and above go to standard error too"),
        Flag("log-dir", STRING, "", "folder for log files; no effect unless --logtostderr=false"),
        Flag("log-file", STRING, "", "the one log file; no effect unless --logtostderr=false"),
        Flag("log-file-max-size", INT, 1800, "megabytes after which it is begun anew; 0 no limit"),
        Flag("one-output", BOOL, False, "a line goes to the file of its own severity alone"),
        Flag("skip-headers", BOOL, False, "lines without time, process and place"),
        Flag("vmodule", MAP, "", "log level per file: pattern=N, where a pattern is a module's name without .py"),
        Flag("logging-format", STRING, "text", "text or json"),
        Flag(
            "log-flush-frequency",
            DURATION,
            "5s",
            "no effect: every line is written at once",
            accepted=True,
        ),
        *unbuilt(
            Flag("log-json-info-buffer-size", STRING, "0", "no effect: every line is written at once"),
            Flag("log-json-split-stream", BOOL, False, "no effect: all lines go to standard error"),
            Flag("log-text-info-buffer-size", STRING, "0", "no effect: every line is written at once"),
            Flag("log-text-split-stream", BOOL, False, "no effect: all lines go to standard error"),
        ),
    ),
)

WITHOUT_HTTP2 = unbuilt(
    Flag("disable-http2-serving", BOOL, False, "no effect: HTTP/1.1 is spoken"),
    Flag("http2-max-streams-per-connection", INT, 0, "no effect: HTTP/1.1 is spoken"),
)
"""Of servers that speak HTTP/1.1 alone."""

ACCEPTED = unbuilt(
    Flag("tls-curve-preferences", LIST, "", "no effect: OpenSSL chooses the curve"),
    Flag("emulated-version", LIST, "", "no effect: the API is that of 1.36; gates switch what is new"),
    Flag("emulation-forward-compatible", BOOL, False, "no effect: no older version is emulated"),
    Flag("min-compatibility-version", LIST, "", "no effect: no older version is emulated"),
    Flag("allow-metric-labels", MAP, "", "no effect: metrics have all values of their labels"),
    Flag("allow-metric-labels-manifest", STRING, "", "no effect: metrics have all values of their labels"),
    Flag("disabled-metrics", LIST, "", "no effect: all metrics are served"),
    Flag("show-hidden-metrics-for-version", STRING, "", "no effect: no metric is hidden"),
)
"""What command lines of Kubernetes 1.36's control plane carry along: taken with a warning."""
