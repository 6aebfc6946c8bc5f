"""Names of Services in hosts files."""

from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.kuberuntime.service_hosts import ServiceHosts, service_section

DOMAIN = "cluster.local"


def service(name, namespace="default", **spec):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


WEB = service("web", clusterIP="127.0.128.20", clusterIPs=["127.0.128.20", "fd00::20"])
OTHER = service("db", "shop", clusterIP="127.0.128.21")
HEADLESS = service("peers", clusterIP="None")
ELSEWHERE = service("docs", externalName="example.org")


def test_a_service_has_all_names_that_a_search_path_gives_it():
    lines = service_section([OTHER, HEADLESS, WEB, ELSEWHERE], "default", DOMAIN).splitlines()

    assert lines[2:] == [
        "127.0.128.20\tweb.default.svc.cluster.local\tweb.default.svc\tweb.default\tweb",
        "fd00::20\tweb.default.svc.cluster.local\tweb.default.svc\tweb.default\tweb",
        "127.0.128.21\tdb.shop.svc.cluster.local\tdb.shop.svc\tdb.shop",
    ]


def test_files_follow_the_services_and_keep_the_rest(tmp_path):
    services, directories = [WEB], KubeletDirectories(tmp_path)
    hosts = ServiceHosts(directories, lambda: services, DOMAIN, lambda pod: pod["metadata"]["name"] == "asks")
    pods = {name: {"metadata": {"name": name, "namespace": "shop", "uid": name}} for name in ("asks", "asks-not")}
    files = {name: directories.pod(name) / "etc-hosts" for name in pods}
    directories.pod("without-a-file").mkdir(parents=True)
    for name, file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        hosts.write(file, "127.0.0.1\tlocalhost\n", pods[name])
    place = files["asks"].stat().st_ino

    services[:] = [OTHER]
    hosts.refresh()

    assert files["asks"].read_text() == "127.0.0.1\tlocalhost\n" + service_section([OTHER], "shop", DOMAIN)
    assert files["asks"].stat().st_ino == place, "a container sees the file through a mount"
    assert files["asks-not"].read_text() == "127.0.0.1\tlocalhost\n"
