"""How one API server is put together: in stages, each of which returns a frozen record of what it built.

Each stage takes the records of those before it: ``foundation`` (options, clock, clients, the contexts of plugins),
``stores`` (where objects are kept), ``model`` (what is served), ``access`` (who may do what), ``verbs`` (what every
request for a resource works with), ``serving`` (from a request's bytes to its answer, and what is no resource),
``controllers`` (what runs beside requests).
"""
