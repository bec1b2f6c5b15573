"""The package travels: `spark-submit --archives` with a packed environment, as docs/spark.md tells it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cluster

Run = Callable[..., str]

PUBLISH = """
import json, sys
import bosket as bk
from pyspark.sql import SparkSession

source, policy, target, told = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()

def where(batches):
    # What a worker has of the package, and with which Python.
    import os, sys, bosket, pyarrow
    for _ in batches:
        found = [os.path.realpath(bosket.__file__), os.path.abspath(sys.executable), bosket.__version__]
        yield pyarrow.RecordBatch.from_pydict({"found": found})

found = [row["found"] for row in spark.range(0, 1, 1, 1).mapInArrow(where, "found string").collect()]
policy = bk.Policy.load(policy)
pub = bk.spark.anonymize(spark.read.parquet(source), policy, target, records_per_part=100)
bk.spark.verify(target, policy, spark=spark).require()
with open(told, "w") as file:
    json.dump({"found": found, "records": pub.records, "here": bk.__file__}, file)
"""

NEEDED = ["bosket", "pyarrow", "pandas", "numpy", "numpy.libs", "dateutil", "six.py", "pytz", "tzdata"]
"""What workers need of the environment of the tests."""


def packed(to: Path) -> None:
    """The environment of the tests without what workers do not need, so that nothing has to be fetched."""
    import venv_pack

    environment = venv_pack.Env(sys.prefix)
    site = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    environment = environment.exclude(f"{site}/*").exclude("share/*").exclude("wheels/*").exclude("include/*")
    for name in NEEDED:
        environment = environment.include(f"{site}/{name}").include(f"{site}/{name}/*")
    # What only their own tests and compilers need.
    environment = environment.exclude(f"{site}/*/tests/*").exclude(f"{site}/pyarrow/include/*")
    environment.pack(output=str(to), compress_level=1)


def test_an_archive_is_all_that_workers_need(run: Run, workers: cluster.Cluster, tmp_path: Path) -> None:
    home = cluster.required()
    run("generate", "baskets", "--transactions", "400", "--out", "data")
    lines = (tmp_path / "data/data.txt").read_text("utf-8").splitlines()
    items = pa.array([line.split() for line in lines], pa.list_(pa.string()))
    pq.write_table(pa.table({"items": items}), tmp_path / "data/in.parquet")
    policy = tmp_path / "data/policy.toml"
    text = policy.read_text("utf-8").replace('"item"', '"items[]"').replace('"transactions"', '"parquet"')
    policy.write_text(text, "utf-8")
    (tmp_path / "publish.py").write_text(PUBLISH, "utf-8")
    packed(tmp_path / "pack.tar.gz")
    out, told = tmp_path / "published", tmp_path / "told.json"
    environment = dict(
        os.environ,
        SPARK_HOME=str(home),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=str(workers.folder / "local"),
        PYSPARK_PYTHON="./environment/bin/python",
        PYSPARK_DRIVER_PYTHON=sys.executable,
    )
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [
            str(home / "bin/spark-submit"), "--master", workers.url, "--archives", "pack.tar.gz#environment",
            "--conf", "spark.executor.memory=512m", "--conf", "spark.cores.max=1",
            "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false",
            "--conf", f"spark.sql.warehouse.dir={workers.folder / 'warehouse'}",
            "publish.py", "data/in.parquet", str(policy), str(out), str(told),
        ],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    seen = json.loads(told.read_text("utf-8"))
    # The workers have taken everything out of the archive, nothing from where the driver runs.
    package, python, version = seen["found"]
    work = os.path.realpath(workers.folder)
    assert os.path.realpath(package).startswith(work) and package != os.path.realpath(seen["here"])
    assert python.startswith(work) and "/environment/bin/python" in python
    assert version == pytest.importorskip("bosket").__version__
    assert seen["records"] == 400
    said = run("verify", str(out), "--certificate", f"{out}.certificate.json")
    assert "AS CERTIFIED" in said and "HOLDS" in said
