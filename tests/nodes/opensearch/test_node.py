"""The node that other tests rely on."""

import json
import urllib.request

import pytest

from tests.nodes.opensearch.node import RELEASES


def test_the_node_answers_with_its_version(opensearch: str, request: pytest.FixtureRequest) -> None:
    with urllib.request.urlopen(opensearch, timeout=10) as answer:
        version = json.load(answer)["version"]

    assert version["distribution"] == "opensearch"
    assert version["number"] == RELEASES[request.config.getoption("--opensearch")].number
