"""A real Spark cluster on this machine: a master and two workers, each a process of its own, with folders of their own.

Nothing of it is left when it is stopped: neither processes nor files.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

JAVA = "sudo apt-get install openjdk-17-jre-headless"
PYSPARK = "pip install -r crates/python/requirements-spark.txt"

PATIENCE = 180.0
"""Seconds until a process must have said that it is there; a machine that computes something else takes its time."""


class Missing(RuntimeError):
    """Something has to be installed."""


def required() -> Path:
    """Where Spark lies; says how to install what is not there."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        raise Missing(f"there is no Java, which Spark runs on: {JAVA}")
    try:
        import pyspark
    except ImportError:
        raise Missing(f"there is no PySpark: {PYSPARK}") from None
    numbers = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if numbers < (4, 1):
        raise Missing(f"PySpark {pyspark.__version__} is older than 4.1: {PYSPARK}")
    return Path(pyspark.__file__).parent


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


class Cluster:
    """A master and workers. Each has a core for an executor of the tests' session, and one for somebody else's."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder, self.workers = folder, workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def __enter__(self) -> Cluster:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        home = required()
        port, page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        address = ["--host", "127.0.0.1"]
        self._spawn(home, "master", ["master.Master", *address, "--port", str(port), "--webui-port", str(page)])
        self._await("master", "I have been elected leader")
        for number in range(self.workers):
            name = f"worker-{number}"
            work = self.folder / name
            work.mkdir(parents=True)
            given = ["--webui-port", str(free_port()), "--cores", "2", "--memory", "1g", "--work-dir", str(work)]
            self._spawn(home, name, ["worker.Worker", *address, *given, self.url])
        for number in range(self.workers):
            self._await(f"worker-{number}", "Successfully registered with master")

    def _spawn(self, home: Path, name: str, command: list[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        scratch = self.folder / "local"
        environment = dict(
            os.environ,
            SPARK_HOME=str(home),
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_LOCAL_DIRS=str(scratch),
            SPARK_DAEMON_MEMORY="256m",
            SPARK_DAEMON_JAVA_OPTS=f"-Djava.io.tmpdir={self.folder}",
            PYSPARK_PYTHON=sys.executable,
        )
        main, *arguments = command
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(
                [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{main}", *arguments],
                cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                # Executors belong to their worker's group, so that none outlives it.
                start_new_session=True,
            )
        self._processes.append(process)

    def _await(self, name: str, words: str) -> None:
        until = time.monotonic() + PATIENCE
        log = self.folder / f"{name}.log"
        while time.monotonic() < until:
            if words in log.read_text("utf-8", "replace"):
                return
            if self._processes[-1].poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"the {name} did not start:\n{log.read_text('utf-8', 'replace')[-4000:]}")

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A session that runs on the workers."""
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        settings = {
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.cores.max": str(self.workers),
            "spark.driver.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "4",
            "spark.local.dir": str(self.folder / "local"),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            # A lost executor is noticed soon.
            "spark.network.timeout": "60s",
            "spark.executor.heartbeatInterval": "5s",
        }
        builder = SparkSession.builder.master(self.url).appName("bosket")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            session.stop()

    def executors(self) -> list[int]:
        """The processes of the executors that run now."""
        groups = {process.pid for process in self._processes}
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes()
                group = os.getpgid(int(entry.name))
            except OSError:
                continue
            if group in groups and b"CoarseGrainedExecutorBackend" in words:
                found.append(int(entry.name))
        return sorted(found)

    @contextmanager
    def struck(self, session: Any, job: int) -> Iterator[None]:
        """Kills an executor while a job is under way that is the so-manieth from now; fails where there was none to kill."""
        status = session.sparkContext.statusTracker()
        seen = set(status.getJobIdsForGroup(None))
        before = self._complete()
        killed: list[int] = []
        done = threading.Event()

        def strike() -> None:
            while not done.is_set():
                if len(set(status.getJobIdsForGroup(None)) - seen) >= job and set(status.getActiveJobsIds()) - seen:
                    os.kill(before[0], signal.SIGKILL)
                    killed.append(before[0])
                    return
                time.sleep(0.01)

        striker = threading.Thread(target=strike)
        striker.start()
        try:
            yield
        finally:
            done.set()
            striker.join()
        assert killed, "no executor was killed"

    def _complete(self) -> list[int]:
        """The executors of all workers; one that was killed is replaced after a while."""
        until = time.monotonic() + PATIENCE
        while len(found := self.executors()) != self.workers:
            if time.monotonic() > until:
                raise RuntimeError(f"{len(found)} executors run on {self.workers} workers")
            time.sleep(0.05)
        return found

    def stop(self) -> None:
        """Ends every process of the cluster, and removes its folders."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for process in self._processes:
                try:
                    os.killpg(process.pid, sign)
                except ProcessLookupError:
                    pass
            until = time.monotonic() + 5
            while time.monotonic() < until and any(p.poll() is None for p in self._processes):
                time.sleep(0.05)
        for process in self._processes:
            process.wait()
        self._processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)
