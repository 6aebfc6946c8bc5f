"""The contracts of stores: `store.StoreContract` for every one, `forks.ForkPromises` for those that fork.

And `queued_writes.QueuedWritePromises` for those that commit what many requests write by turns on one thread.
"""
