"""`kubeadm version`, as scripts ask it; clusters are made by `hyperkube up` and nodes join by `hyperkube kubelet`."""
