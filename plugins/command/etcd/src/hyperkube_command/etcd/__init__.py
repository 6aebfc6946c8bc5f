"""hyperkube etcd: the part of etcd's v3 API that API servers, etcdctl and tests use, over a `Store` of this house."""
