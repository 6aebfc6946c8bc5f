"""A request's way through the server: filters, dispatch to the verbs, the answer."""
