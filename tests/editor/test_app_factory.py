import socket
import subprocess
import sys

import pytest

from editor.app_factory import serve
from editor.settings import EditorSettings
from editor.store.database import Database, database_url
from engine.settings import EngineSettings
from tests.editor.serving import NO_WORKER, ServerProcess

ENGINE = EngineSettings(worker_url=NO_WORKER)


def test_a_port_in_use_is_one_clear_line_and_exit_code_2(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        code = serve(EditorSettings(data_dir=tmp_path, port=port), ENGINE, shell=False)

    problem = capsys.readouterr().err
    assert code == 2
    assert problem.count("\n") == 1
    assert f"port {port}" in problem
    assert "TIDELINE_PORT" in problem


def test_a_second_instance_on_the_same_database_is_told(tmp_path, capsys):
    first = Database(database_url(tmp_path))

    code = serve(EditorSettings(data_dir=tmp_path, port=0), ENGINE, shell=False)

    first.close()
    problem = capsys.readouterr().err
    assert code == 2
    assert problem.count("\n") == 1
    assert str(tmp_path / "tideline.db") in problem


def test_an_address_that_is_not_ours_is_told(tmp_path, capsys):
    settings = EditorSettings(data_dir=tmp_path, host="192.0.2.1", port=0)

    code = serve(settings, ENGINE, shell=False)

    assert code == 2
    assert "192.0.2.1" in capsys.readouterr().err


def test_a_server_that_is_told_to_stop_ends_with_0_and_frees_the_database(tmp_path, nursery):
    with ServerProcess(nursery, tmp_path) as server:
        made = server.create("kept")
        with server.browser(made["id"]) as browser:
            browser.insert(" words")
            browser.take("edited")
            code = server.stop()  # with an open browser

    assert code == 0
    database = Database(database_url(tmp_path))
    database.close()
    with ServerProcess(nursery, tmp_path) as server:
        assert server.call("GET", f"/api/documents/{made['id']}")["text"] == "kept words"


def test_without_a_worker_documents_are_served_and_readiness_says_so(tmp_path, nursery):
    with ServerProcess(nursery, tmp_path) as server:
        ready = server.request("GET", "/readyz")
        assert server.create("still works")["version"] == 0

    assert ready.status_code == 503
    assert ready.json()["store"] == "ready"
    assert ready.json()["worker"] == "down"


@pytest.mark.parametrize("module", ["torch", "transformers", "gradio"])
def test_the_web_process_loads_neither_models_nor_the_shell_by_itself(module):
    code = f"import sys, editor.app_factory; sys.exit({module!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
