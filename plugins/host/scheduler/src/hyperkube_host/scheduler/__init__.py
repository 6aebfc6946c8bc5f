"""kube-scheduler: the queue, the node table, one pod's cycle, the binder, and the record of every decision."""
