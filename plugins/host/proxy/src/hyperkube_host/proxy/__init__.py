"""kube-proxy: the maps of services and their endpoints, and the loop that hands them to a proxier plugin."""
