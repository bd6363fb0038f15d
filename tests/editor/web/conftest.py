import pytest

from tests.editor.serving import ServerProcess


@pytest.fixture(scope="package")
def server(nursery, tmp_path_factory):
    """One real server with a real worker process, shared by the tests of this package."""
    with ServerProcess(nursery, tmp_path_factory.mktemp("data"), TIDELINE_WORKER_URL="") as server:
        yield server
