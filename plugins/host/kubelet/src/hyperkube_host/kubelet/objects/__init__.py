"""API objects that pods refer to. Source: kubernetes ``pkg/kubelet/{configmap,secret,token,util/manager}``."""
