"""The four forms of the version, and what answers the words that kubeadm has besides."""

import json

import pytest
import yaml
from click.testing import CliRunner
from hyperkube_command.kubeadm.command import command, render, version_info

from hyperkube.machinery.errors import UsageError


def asked(*words):
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_the_version_is_text_of_go():
    assert asked("version").startswith('kubeadm version: &version.Info{Major:"1", Minor:"36", GitVersion:"v1.36.2", ')


def test_scripts_read_the_short_form():
    assert asked("version", "-o", "short") == "v1.36.2\n"


@pytest.mark.parametrize(("form", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_programs_read_the_others(form, read):
    assert read(asked("version", "--output", form)) == {"clientVersion": version_info()}


def test_an_unknown_form_is_refused():
    with pytest.raises(UsageError, match="invalid output format: xml"):
        asked("version", "-o", "xml")


def test_other_words_name_what_there_is_instead():
    with pytest.raises(UsageError, match=r'unknown command "init" for "kubeadm" \(clusters are made by `hyperkube up`'):
        asked("init")


def test_no_field_of_the_text_is_empty():
    assert '""' not in render(version_info(), "")
