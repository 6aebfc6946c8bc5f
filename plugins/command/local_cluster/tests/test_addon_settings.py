"""What addons of a local cluster are configured with."""

import pytest
from hyperkube_command.local_cluster.addon_settings import addon_settings
from hyperkube_command.local_cluster.arguments import ClusterOptions
from hyperkube_lib.local_cluster.layout import Layout

from hyperkube.machinery.errors import UsageError

pytest.importorskip("hyperkube_addon.console", reason="an addon with flags")


def options(tmp_path, *words, **more):
    return ClusterOptions(layout=Layout(tmp_path), node_name="n", addons=("console",), extra={"addons": words}, **more)


def test_an_addon_is_told_where_the_cluster_is_if_it_asks(tmp_path):
    settings = addon_settings(options(tmp_path))("console")

    assert settings == {"kubeconfig": f"{tmp_path}/admin.kubeconfig", "data_dir": str(tmp_path), "console_port": 0}


def test_a_flag_beats_the_file(tmp_path):
    file = {("addon", "console"): {"console_port": 8001}}

    assert addon_settings(options(tmp_path, addon_settings=file))("console")["console_port"] == 8001
    told = options(tmp_path, "--console-port=8002", addon_settings=file)
    assert addon_settings(told)("console")["console_port"] == 8002


@pytest.mark.parametrize("word", ["--nothing=1", "--console-port=many"])
def test_what_no_addon_understands_is_refused(tmp_path, word):
    with pytest.raises(UsageError):
        addon_settings(options(tmp_path, word))
