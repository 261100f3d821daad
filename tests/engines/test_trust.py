"""What a folder of somebody else may choose: nothing that connects elsewhere, and nothing that runs."""

import json
import os
import socket
import subprocess
import sys
from threading import Thread

import pytest

from fernn.data import load, write_csv
from fernn.engines import resolve_engine, use
from fernn.engines.base import _announced, announce
from fernn.engines.resolve import announce_engine
from fernn.errors import FernnError, UnsupportedError
from fernn.runs import plan
from fernn.runs.methods import learner_of
from fernn.runs.plan import make_learner

FERNN = [sys.executable, "-P", "-c", "from fernn.cli import main; main()"]
CLUSTERS = ["tcp://{}", "dask:{}", "tls://{}", "ws://{}", "ray://{}", "ray:{}"]


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch, tmp_path):
    for name in ("FERNN_ENGINE", "FERNN_SETTINGS", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "fernn").mkdir(parents=True)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    use(None)
    yield
    use(None)


@pytest.fixture
def listener():
    """An address of this machine, and who came there."""
    came = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                came.append(connection)

        Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}", came
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("form", CLUSTERS)
def test_a_file_in_the_working_folder_does_not_make_learn_connect_anywhere(form, listener, tmp_path):
    address, came = listener
    (tmp_path / "folder" / "fernn.toml").write_text(f'engine = "{form.format(address)}"\n')
    write_csv(load("cruise", cases=10), tmp_path / "folder" / "d.csv")
    done = subprocess.run([*FERNN, "learn", "d.csv"], capture_output=True, text=True)
    assert done.returncode == 3
    assert not came
    assert "cannot choose what runs code" in done.stderr
    assert str(tmp_path / "config" / "fernn" / "fernn.toml") in done.stderr
    assert sorted(os.listdir()) == ["d.csv", "fernn.toml"]


@pytest.mark.parametrize(
    "text",
    ['engine = "ray"', 'engine = "dask:2"', 'engine = "slurm"', "engine = 3", 'engine = ["processes"]',
     'engine = "processes:100000"', 'engine = "local"\n[slurm]\nsetup = ["touch run"]'],
)  # fmt: skip
def test_a_file_in_the_working_folder_chooses_nothing_but_this_process_and_its_like(text, tmp_path):
    (tmp_path / "folder" / "fernn.toml").write_text(text + "\n")
    for ask in (resolve_engine, announce_engine):
        with pytest.raises(FernnError, match="can only be local or processes"):
            ask()
    assert resolve_engine("local").name == "local"  # who says so is not kept from it


def test_the_table_of_a_queue_is_never_that_of_the_working_folder(tmp_path):
    (tmp_path / "folder" / "fernn.toml").write_text('[slurm]\ncluster = "local"\nsetup = ["touch run"]\n')
    with pytest.raises(FernnError, match=r"has a table \[slurm\]"):
        resolve_engine("slurm")


@pytest.mark.parametrize("size", [2_000_000, 0])
def test_a_settings_file_of_any_size_and_shape_is_refused_in_words(size, tmp_path):
    (tmp_path / "folder" / "fernn.toml").write_text("#" * size + "\nengine = " + "[" * 5_000)
    with pytest.raises(FernnError, match="cannot be read as TOML"):
        resolve_engine()


def test_the_users_own_file_chooses_and_goes_before_the_folders(tmp_path, monkeypatch):
    (tmp_path / "folder" / "fernn.toml").write_text('engine = "processes:1"\n')
    (tmp_path / "config" / "fernn" / "fernn.toml").write_text('engine = "processes:3"\n')
    assert resolve_engine().workers == 3
    (tmp_path / "other.toml").write_text('engine = "processes:4"\n')
    monkeypatch.setenv("FERNN_SETTINGS", str(tmp_path / "other.toml"))
    assert resolve_engine().workers == 4


def test_a_relative_folder_for_configuration_is_not_one_of_the_users(tmp_path, monkeypatch):
    (tmp_path / "folder" / "mine" / "fernn").mkdir(parents=True)
    (tmp_path / "folder" / "mine" / "fernn" / "fernn.toml").write_text('engine = "tcp://127.0.0.1:1"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve_engine().name == "local"


@pytest.mark.parametrize(
    ("name", "package"), [("tcp://127.0.0.1:1", "distributed"), ("ray:127.0.0.1:1", "ray"), ("ray", "ray")]
)
def test_the_address_is_named_before_anything_connects(name, package, capsys, monkeypatch):
    pytest.importorskip(package)
    said = []

    def connect(*_):
        said.append(capsys.readouterr().err)
        raise ConnectionRefusedError

    _announced.clear()
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(UnsupportedError, match="answers at"):
        resolve_engine(name)
    assert "127.0.0.1:1. Whoever runs it can run code on this machine" in said[0]


def test_an_address_is_named_once(capsys):
    _announced.clear()
    for _ in range(3):
        announce("tcp://host:1", "dask")
    announce_engine("tcp://host:1")
    assert capsys.readouterr().err.count("tcp://host:1") == 1


def test_the_settings_of_a_run_choose_no_engine():
    data = load("cruise", cases=10)
    planned = plan("d.csv", {}, "fernn", {})
    planned["learner"]["engine"] = "tcp://127.0.0.1:1"
    with pytest.raises(UnsupportedError, match="no such setting as engine"):
        learner_of(planned, data)
    for kind in ("each", "list", "ranked", "one"):
        planned = plan("d.csv", {}, "fernn", {}, 0.2, classes=kind)
        planned["learner"]["engine"] = "tcp://127.0.0.1:1"
        with pytest.raises(UnsupportedError, match="no such setting as engine"):
            make_learner(planned, data)


LISTENING = """
import json, sys
from threading import Event
import psutil
from fernn.engines import Unit, resolve_engine, run_units
if __name__ == "__main__":
    engine = resolve_engine(sys.argv[1])
    list(run_units(engine, "builtins:print", None, [Unit({}, 0)], tries=1))  # a worker is there
    me = psutil.Process()
    found = set()
    for process in [me, *me.children(recursive=True)]:
        try:
            found |= {each.laddr.ip for each in process.net_connections("inet") if each.status == "LISTEN"}
        except psutil.NoSuchProcess:
            pass
    print(json.dumps(sorted(found)))
    engine.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "package"), [("ray:1", "ray"), ("dask:1", "distributed")])
def test_a_cluster_that_is_begun_here_listens_on_the_loopback_alone(name, package, tmp_path):
    pytest.importorskip(package)
    pytest.importorskip("psutil")
    (tmp_path / "listening.py").write_text(LISTENING)
    done = subprocess.run(
        [sys.executable, "-P", str(tmp_path / "listening.py"), name], capture_output=True, text=True, timeout=300
    )
    addresses = json.loads(done.stdout.splitlines()[-1])
    assert addresses, done.stderr
    assert {address.removeprefix("::ffff:") for address in addresses} <= {"127.0.0.1", "::1"}
    assert "listens at" not in done.stderr


@pytest.fixture
def planted(tmp_path):
    """Modules in the working folder that leave a mark where they are imported."""
    mark = tmp_path / "imported"
    text = f"import os\nos.close(os.open({str(mark)!r}, os.O_CREAT | os.O_WRONLY | os.O_APPEND))\nraise ImportError\n"
    folder = tmp_path / "folder"
    for name in ("numpy", "numba", "polars", "cloudpickle", "tomllib", "submitit", "msgpack", "csv"):
        (folder / f"{name}.py").write_text(text)
    (folder / "fernn").mkdir()
    (folder / "fernn" / "__init__.py").write_text(text)
    return mark


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "package"), [("processes:1", None), ("dask:1", "distributed"), ("ray:1", "ray"), ("slurm", "submitit")]
)
def test_workers_do_not_import_what_lies_in_the_working_folder(engine, package, planted, tmp_path):
    if package is not None:
        pytest.importorskip(package)
    table = f'[slurm]\ncluster = "local"\nfolder = "{tmp_path / "jobs"}"\ntimeout_min = 5\nworkers = 1\n'
    (tmp_path / "config" / "fernn" / "fernn.toml").write_text(table)
    write_csv(load("cruise", cases=20), tmp_path / "folder" / "d.csv")
    words = ["learn", "d.csv", "--method", "tree", "--set", "depth=1", "--folds", "2", "--no-report", "-q"]
    done = subprocess.run([*FERNN, *words, "--engine", engine], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "no validation" not in done.stderr
    assert not planted.exists()


def test_files_are_not_tried_with_what_lies_in_the_working_folder(planted, tmp_path):
    pl = pytest.importorskip("polars")
    pl.DataFrame({"case": ["a"] * 3, "v": [1.0, 2.0, 3.0]}).write_parquet(tmp_path / "folder" / "d.parquet")
    done = subprocess.run([*FERNN, "check", "d.parquet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not planted.exists()


def test_settings_for_numba_in_the_working_folder_are_refused(tmp_path):
    """Numba would load compiled code, which is pickled, from where they say."""
    folder = tmp_path / "folder"
    (folder / ".numba_config.yaml").write_text("cache_dir: kept\n")
    write_csv(load("cruise", cases=10), folder / "d.csv")
    done = subprocess.run([*FERNN, "eval", "G (v <= 34)", "d.csv"], capture_output=True, text=True)
    assert done.returncode == 3
    assert "would tell numba" in done.stderr
    assert not (folder / "kept").exists()
    assert subprocess.run([*FERNN, "--help"], capture_output=True).returncode == 0


def test_jobs_of_a_queue_have_a_folder_that_nobody_has_put_answers_into(tmp_path):
    pytest.importorskip("submitit")
    from fernn.engines.slurm import Slurm

    queues = [Slurm(tmp_path / "jobs", cluster="local", workers=1, timeout_min=5) for _ in range(2)]
    folders = [queue._folder for queue in queues]
    for queue in queues:
        queue.close()
    assert len(set(folders)) == 2
    assert all(folder.parent == (tmp_path / "jobs").resolve() for folder in folders)


def test_the_studio_begins_processes_that_do_not_import_from_the_working_folder(planted):
    from fernn.studio.jobs import COMMAND

    done = subprocess.run(COMMAND, input="", capture_output=True, text=True, timeout=120)
    assert "ImportError" not in done.stderr
    assert not planted.exists()
