# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share. They are run by tests/python_test.sh, which says where the program is."""

import os

import pytest

import starling


@pytest.fixture(scope="session")
def program():
    """The command `starling`."""
    path = os.environ.get("STARLING_PROGRAM", "")
    if not path:
        pytest.skip("STARLING_PROGRAM does not say where the program is")
    return path


@pytest.fixture(scope="session")
def cluster():
    return starling.Topology.generate("leaf-spine", servers=8, gpus=8, rack=4)


@pytest.fixture(scope="session")
def jobs():
    return starling.Workload.generate("philly-like", jobs=150, gpus=64, load=1.4, max_duration_s=7200, seed=3)
