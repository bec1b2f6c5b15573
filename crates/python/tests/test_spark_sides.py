"""People and their sensitive values apart, on a real cluster: the groups of one machine, or those of parts that values were dealt into."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bosket as bk
import cluster
from bosket import _spark_sides
from conftest import CITIES
from test_spark import refused

Run = Callable[..., str]

POLICY = """
version = 1
source = { format = "parquet", path = "in.parquet" }
attribute = [
    { path = "name", role = "identifying" },
    { path = "born", role = "quasi" },
    { path = "home.city", role = "quasi" },
    { path = "visits[].year", role = "quasi" },
    { path = "disease", role = "sensitive", hierarchy = "disease.csv" },
    { path = "visits[].drug", role = "sensitive", hierarchy = "drug.csv" },
]
privacy = { model = "anatomy", group_size = 3 }
publish = { path = "published" }
"""

SCHEMA = pa.schema([
    ("name", pa.string()), ("born", pa.int64()), ("home", pa.struct([("city", pa.string())])),
    ("visits", pa.list_(pa.struct([("year", pa.int64()), ("drug", pa.string())]))), ("disease", pa.string()),
])


def people(count: int) -> pa.Table:
    draw = random.Random(5)
    made = []
    for number in range(count):
        chosen = draw.sample(range(40), draw.randint(1, 2))
        made.append({
            "name": f"Person {number}", "born": draw.randint(1940, 1960), "home": {"city": draw.choice(CITIES)},
            "visits": [{"year": draw.randint(2015, 2024), "drug": f"D{drug}"} for drug in chosen],
            "disease": f"A{int(draw.triangular(0, 20, 3))}",
        })
    return pa.Table.from_pylist(made, schema=SCHEMA)


@pytest.fixture
def clinic(tmp_path: Path) -> tuple[pa.Table, bk.Policy]:
    """People with a disease each, most of them of a few, in a tree of three levels, and one or two drugs."""
    folder = tmp_path / "data"
    folder.mkdir()
    table = people(700)
    pq.write_table(table, folder / "in.parquet")
    (folder / "disease.csv").write_text("".join(f"A{i};group {i // 5};any\n" for i in range(21)), "utf-8")
    (folder / "drug.csv").write_text("".join(f"D{i};any\n" for i in range(40)), "utf-8")
    (folder / "policy.toml").write_text(POLICY, "utf-8")
    return table, bk.Policy.load(folder / "policy.toml")


def sides(folder: Path) -> dict[str, pa.Table]:
    """The tables of a publication, whether they are files or folders of parts."""
    found = {}
    for entry in folder.iterdir():
        files = sorted(entry.iterdir()) if entry.is_dir() else [entry]
        found[entry.name] = pa.concat_tables([pq.ParquetFile(file).read() for file in files])
    return found


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet")) if path.is_file()}


@pytest.mark.parametrize("model", ["anatomy", "delta"])
def test_one_part_is_what_one_machine_publishes(
    spark: Any, run: Run, tmp_path: Path, clinic: tuple[pa.Table, bk.Policy], model: str
) -> None:
    table, policy = clinic
    run("anonymize", "data/policy.toml", "--set", f"privacy.model={model}")
    out = tmp_path / "data/out"
    policy = policy.with_(privacy__model=model)
    pub = bk.spark.anonymize(spark.createDataFrame(table).repartition(3), policy, out, records_per_part=150)
    expected, found = sides(tmp_path / "data/published"), sides(out)
    assert sorted(expected) == sorted(found) == ["in.parquet", "sensitive_disease.parquet", "sensitive_drug.parquet"]
    assert all(found[name].equals(expected[name]) for name in expected)
    assert len(list((out / "in.parquet").iterdir())) > 3
    assert pub.records + pub.certificate["suppressed"]["records_suppressed"] == table.num_rows
    assert bk.spark.verify(out, policy, spark=spark)
    assert "HOLDS" in run("verify", str(out), "--policy", "data/policy.toml", "--set", f"privacy.model={model}")
    assert "AS CERTIFIED" in run("verify", str(out), "--certificate", f"{out}.certificate.json")
    assert not [path.name for path in out.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("model", ["anatomy", "delta"])
def test_parts_that_values_are_dealt_into(
    spark: Any, run: Run, tmp_path: Path, clinic: tuple[pa.Table, bk.Policy], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, policy = clinic
    monkeypatch.setattr(_spark_sides, "DEALT", 200)
    policy = policy.with_(privacy__model=model)
    seen = []
    for round, partitions in enumerate([1, 4]):
        rows = list(range(table.num_rows))
        random.Random(round).shuffle(rows)
        # The certificate names hierarchies, which are looked for beside it.
        out = tmp_path / f"data/out-{round}"
        frame = spark.createDataFrame(table.take(pa.array(rows))).repartition(partitions)
        with pytest.warns(bk.BosketWarning, match="more than its share"):
            pub = bk.spark.anonymize(frame, policy, out, records_per_part=150)
        seen.append((bytes_of(out), pub.certificate["publication"]["files"]))
    assert seen[0] == seen[1]
    # Dealt by their values, few are in no group.
    assert pub.certificate["suppressed"]["records_suppressed"] < 35
    assert pub.records + pub.certificate["suppressed"]["records_suppressed"] == table.num_rows
    assert bk.spark.verify(out, policy, spark=spark)
    assert "AS CERTIFIED" in run("verify", str(out), "--certificate", f"{out}.certificate.json")
    given = ["--policy", "data/policy.toml", "--set", f"privacy.model={model}"]
    # Nobody and nothing is published that is not there.
    assert "HOLDS" in run("verify", str(out), *given, "--against", "data/in.parquet")


@pytest.mark.parametrize("model", ["anatomy", "delta"])
def test_a_killed_executor_changes_nothing_in_two_sides(
    spark: Any,
    workers: cluster.Cluster,
    tmp_path: Path,
    clinic: tuple[pa.Table, bk.Policy],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, policy = clinic
    monkeypatch.setattr(_spark_sides, "DEALT", 200)
    policy = policy.with_(privacy__model=model)
    frame = spark.createDataFrame(table).repartition(4)
    made = []
    for name, struck in [("whole", nullcontext()), ("struck", workers.struck(spark, 4))]:
        with pytest.warns(bk.BosketWarning, match="more than its share"), struck:
            pub = bk.spark.anonymize(frame, policy, tmp_path / name, records_per_part=150)
        made.append((bytes_of(tmp_path / name), pub.certificate["publication"]["files"]))
    assert made[0] == made[1]
    assert bk.spark.verify(tmp_path / "struck", policy, spark=spark)


def test_sides_that_were_meddled_with(spark: Any, tmp_path: Path, clinic: tuple[pa.Table, bk.Policy]) -> None:
    table, policy = clinic
    out = tmp_path / "out"
    bk.spark.anonymize(spark.createDataFrame(table).repartition(2), policy, out, records_per_part=150)
    given = ["--policy", str(tmp_path / "data/policy.toml")]

    def meddled(name: str) -> Path:
        shutil.copytree(out, tmp_path / name)
        return tmp_path / name

    # Parts under each other's names: what a file per partition of the input would look like.
    leak = meddled("leak")
    for side in leak.iterdir():
        first, second = side / "part-00000.parquet", side / "part-00001.parquet"
        first.rename(side / "aside")
        second.rename(first)
        (side / "aside").rename(second)
    with pytest.raises(bk.DataError, match="across all parts"):
        bk.spark.verify(leak, policy, spark=spark)
    assert "across all parts" in refused("verify", str(leak), *given)

    # Groups of three are none of four.
    assert not bk.spark.verify(out, policy.with_(privacy__group_size=4), spark=spark)

    # A part of one side, or a file that nobody knows.
    less = meddled("less")
    os.unlink(sorted((less / "sensitive_disease.parquet").iterdir())[-1])
    with pytest.raises(bk.DataError, match="number of parts"):
        bk.spark.verify(less, policy, spark=spark)
    assert "number of parts" in refused("verify", str(less), *given)
    (out / "in.parquet/notes.txt").write_text("Anna is in group 3", "utf-8")
    with pytest.raises(bk.DataError, match="no part of the publication"):
        bk.spark.verify(out, policy, spark=spark)


def test_what_sides_cannot_do_is_refused(spark: Any, tmp_path: Path, clinic: tuple[pa.Table, bk.Policy]) -> None:
    table, policy = clinic
    frame = spark.createDataFrame(table)
    with pytest.raises(bk.Unreachable, match="groups of 30 cannot be made"):
        bk.spark.anonymize(frame, policy.with_(privacy__group_size=30), tmp_path / "out")
    with pytest.raises(bk.PolicyError, match="two sides"):
        bk.spark.verify(frame, policy)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]
