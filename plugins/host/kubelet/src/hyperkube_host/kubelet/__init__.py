"""The kubelet: the agent of a node, which runs its pods.

Folders have upstream's names. A module imports only from rows below its own (a contract of import-linter)::

    command                     the server command: flags in, a running kubelet with its ports out
    kubelet                     the sync loop: does what the keys of the work queue ask for
    assembly                    puts plugins and services together
    server                      the HTTPS API: logs, exec, attach, port-forward, pods, statistics
    pod_workers                 one step of the life of one pod
    housekeeping                removes what ended
    kuberuntime                 from the spec of a pod to sandboxes and containers of the runtime
    nodestatus                  the Node object: registration, status, lease
    config                      pod sources: the API server, manifests in files, a URL
    node_managers               eviction, image garbage collection and log rotation, by the kubelet's clock
    images                      pull policy, back-off, verification and removal of images
    credentialprovider          logins for registries: pull secrets, files, programs
    oom                         processes that the kernel killed
    eviction                    which pods go when memory, disk or process ids run out
    stats, metrics              what node and pods use, and the pages that tell it
    lifecycle                   admission by the node, lifecycle hooks
    pleg                        reports which pods changed in the runtime
    prober                      liveness, readiness and startup probes
    status                      computes the status of a pod and writes it
    volumemanager               sets up volumes with their plugins
    pod                         the pods of the node, and the mirrors of the static ones
    objects                     ConfigMaps, Secrets and tokens that pods refer to
    certificate                 the client certificate of the node
    container                   a pod as the runtime has it
    events                      the event recorder
    logs, network, probe        log files and their rotation; the resolver file; one check of a container
    sync_queue                  the work queue and its tasks
    directories                 the layout of ``--root-dir``
    types                       labels, annotations, parts of the spec and the status
    options, flags              the command line

Source: kubernetes ``pkg/kubelet``.
"""
