"""kube-apiserver: the single entry point for every create, read, update, delete and watch of every object.

Folders import downwards only, in this order (checked by import-linter):

- ``command``, ``completion``, ``listeners``, ``server``, ``shutdown``: from the command line to the server and
  its end.
- ``assembly``: the server is put together in stages.
- ``in_process``: the API for the parts of this process, without a socket.
- ``pipeline``: authentication, impersonation, flow control, authorization, dispatch to the verbs, the answer.
- ``routes``: what is no resource: discovery, OpenAPI, health, metrics, logs, profiles.
- ``peerproxy``: other API servers beside this one, and what only they serve.
- ``aggregation``: other API servers behind this one (kube-aggregator). ``connect``: exec, port-forward, proxy.
  ``controlplane``: system objects, identity Leases. ``custom``: custom resources (apiextensions-apiserver).
- ``rest``: the verbs of resources. ``follower``: keeps up with the objects that change what is served.
- ``storage``: which backend, which forms of values, whether it answers.
- ``admission``, ``authentication``, ``authorization``, ``egress_selector``, ``encryption``, ``flowcontrol``,
  ``health``: one concern each.
- ``serializer``: media types. ``request``: what travels through the pipeline. ``resources``: what is served.
- ``audit``: events, policies and backends. ``explain``: why a
  request was refused. ``openapi``: documents of schemas. ``plugins``: what loading plugins needs.
  ``promise``: a part that others are given before it is built.
- ``options``: all options, typed. ``flags``: the table of flags.
"""
