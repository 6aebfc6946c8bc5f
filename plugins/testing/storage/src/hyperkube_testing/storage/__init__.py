"""The contracts of stores: `store.StoreContract` for every one, `forks.ForkPromises` for those that fork."""
