"""The same results on a real cluster, whatever its tasks are given and whatever becomes of them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq
import pytest

import bosket as bk
import cluster
from bosket import _native
from conftest import BINARY

Run = Callable[..., str]


def anonymized(run: Run, folder: Path, sets: dict[str, str]) -> pa.Table:
    """What the command line publishes of a Parquet file."""
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    run("anonymize", "data/policy.toml", *given)
    return pq.read_table(folder / "data" / sets["publish.path"])


PARQUET = {"source.format": "parquet", "source.path": "in.parquet", "publish.path": "published.parquet"}


@pytest.fixture
def baskets(run: Run, tmp_path: Path) -> tuple[pa.Table, bk.Policy, dict[str, str]]:
    """Sets of items, their policy, and how the command line publishes them."""
    run("generate", "baskets", "--transactions", "1500", "--out", "data")
    lines = (tmp_path / "data/data.txt").read_text("utf-8").splitlines()
    table = pa.table({"items": pa.array([line.split() for line in lines], pa.list_(pa.string()))})
    policy = tmp_path / "data/policy.toml"
    policy.write_text(policy.read_text("utf-8").replace('"item"', '"items[]"').replace('"transactions"', '"parquet"'), "utf-8")
    pq.write_table(table, tmp_path / "data/in.parquet")
    sets = PARQUET | {"method.algorithm": "aa", "privacy.m": "2"}
    return table, with_sets(bk.Policy.load(policy), sets), sets


@pytest.fixture
def clinic(run: Run, tmp_path: Path) -> tuple[pa.Table, bk.Policy, dict[str, str]]:
    """Trees of visits and diagnoses."""
    run("generate", "clinic", "--people", "600", "--out", "data")
    table = pa.json.read_json(tmp_path / "data/data.ndjson")
    pq.write_table(table, tmp_path / "data/in.parquet")
    # Attackers by name are not counted on partitions: the policy is about whoever knows any two values and one relation.
    path = tmp_path / "data/policy.toml"
    before, rest = path.read_text("utf-8").split("# Nobody says", 1)
    path.write_text(f"{before.rstrip()}\nm = 2\nn = 1\n\n[method]{rest.split('[method]', 1)[1]}", "utf-8")
    sets = PARQUET | {
        "method.algorithm": "gcs", "method.recoding": "global", "privacy.root": "chain",
        "publish.report": "", "publish.mapping": "",
    }
    return table, with_sets(bk.Policy.load(tmp_path / "data/policy.toml"), sets), sets


def with_sets(policy: bk.Policy, sets: dict[str, str]) -> bk.Policy:
    return policy.with_(**{key.replace(".", "__"): value for key, value in sets.items()})


def published(folder: str | Path) -> pa.Table:
    """All records of a publication in parts, in their order."""
    return pa.concat_tables([pq.read_table(path) for path in sorted(Path(folder).glob("part-*.parquet"))])


def refused(*args: str) -> str:
    import subprocess

    done = subprocess.run([str(BINARY), *args], capture_output=True, text=True, timeout=300)
    assert done.returncode in (1, 3), done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("family", ["baskets", "clinic"])
def test_same_records_as_on_one_machine(
    spark: Any, run: Run, tmp_path: Path, family: str, request: pytest.FixtureRequest
) -> None:
    table, policy, sets = request.getfixturevalue(family)
    expected = anonymized(run, tmp_path, sets)
    frame = spark.createDataFrame(table).repartition(3)
    out = tmp_path / "published"
    pub = bk.spark.anonymize(frame, policy, out, records_per_part=250)
    assert pub.records == table.num_rows and len(pub.files) == -(-table.num_rows // 250)
    # Not only the same records: read one part after the other, they stand in the same order.
    assert published(out).equals(expected)
    assert bk.spark.verify(out, policy, spark=spark)
    assert not bk.spark.verify(frame, policy)
    # Whoever has no cluster checks the folder, too.
    certificate = f"{out}.certificate.json"
    said = run("verify", str(out), "--certificate", certificate)
    assert "AS CERTIFIED" in said and "HOLDS" in said
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    assert "HOLDS" in run("verify", str(out), "--policy", "data/policy.toml", *given)
    theirs = json.loads((tmp_path / "data/published.parquet.certificate.json").read_text("utf-8"))
    assert pub.certificate["claim"] == theirs["claim"]
    for name, value in theirs["loss"].items():
        assert pub.certificate["loss"][name] == pytest.approx(value, rel=1e-8)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]

    # A part that was changed, and one that was exchanged.
    changed = tmp_path / "changed"
    shutil.copytree(out, changed)
    first, second = changed / "part-00000.parquet", changed / "part-00001.parquet"
    first.write_bytes(second.read_bytes())
    assert "part-00000.parquet was changed" in refused("verify", str(changed), "--certificate", certificate)
    with pytest.raises(bk.DataError, match="order of the published content"):
        bk.spark.verify(changed, policy, spark=spark)
    raw = bytearray(second.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    first.write_bytes((out / "part-00000.parquet").read_bytes())
    second.write_bytes(raw)
    assert "part-00001.parquet was changed" in refused("verify", str(changed), "--certificate", certificate)
    with pytest.raises(bk.BosketError, match=r"part-00001"):
        bk.spark.verify(changed, policy, spark=spark)
    second.unlink()
    with pytest.raises(bk.DataError, match="no part of the publication"):
        bk.spark.verify(changed, policy, spark=spark)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_partitions_do_not_matter(spark: Any, tmp_path: Path, baskets: tuple[pa.Table, bk.Policy, dict[str, str]]) -> None:
    table, policy, _ = baskets
    draw = random.Random(7)
    seen = []
    for round in range(3):
        rows = list(range(table.num_rows))
        draw.shuffle(rows)
        frame = spark.createDataFrame(table.take(pa.array(rows)))
        # Also with empty partitions.
        frame = frame.repartition(draw.randint(1, 6)) if round else frame.coalesce(1).repartitionByRange(4, "items")
        out = tmp_path / f"out-{round}"
        pub = bk.spark.anonymize(frame, policy, out, records_per_part=400)
        seen.append((bytes_of(out), pub.certificate))
    assert all(each[0] == seen[0][0] for each in seen)
    assert all(each[1]["loss"] == seen[0][1]["loss"] for each in seen)


def test_a_killed_executor_changes_nothing(
    spark: Any, workers: cluster.Cluster, tmp_path: Path, baskets: tuple[pa.Table, bk.Policy, dict[str, str]]
) -> None:
    table, policy, _ = baskets
    frame = spark.createDataFrame(table).repartition(6)
    whole = tmp_path / "whole"
    bk.spark.anonymize(frame, policy, whole, records_per_part=400)
    out = tmp_path / "struck"
    # In the middle: while the second job of the run is under way.
    with workers.struck(spark, 2):
        pub = bk.spark.anonymize(frame, policy, out, records_per_part=400)
    assert bytes_of(out) == bytes_of(whole)
    assert bk.spark.verify(out, policy, spark=spark) and pub.records == table.num_rows


def test_parts_that_follow_the_input_are_refused(
    spark: Any, tmp_path: Path, baskets: tuple[pa.Table, bk.Policy, dict[str, str]]
) -> None:
    """A planted leak: the same verified records, but each file holds those of one partition of the input."""
    table, policy, _ = baskets
    out = tmp_path / "out"
    bk.spark.anonymize(spark.createDataFrame(table).repartition(3), policy, out, records_per_part=500)
    leak = tmp_path / "leak"
    leak.mkdir()
    names = sorted(path.name for path in out.iterdir())
    assert len(names) == 3
    # Files that Bosket itself has written, sealed and sorted each, under each other's names.
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        shutil.copy(out / other, leak / name)
    with pytest.raises(bk.DataError, match="across all parts"):
        bk.spark.verify(leak, policy, spark=spark)
    said = refused("verify", str(leak), "--policy", policy._path, "--set", "source.format=parquet", "--set", "privacy.m=2")
    assert "not in the order of the published content, across all parts" in said
    # The records themselves keep the promise.
    assert bk.spark.verify(spark.read.parquet(str(leak)), policy)


def test_what_partitions_cannot_do_is_refused(
    spark: Any, tmp_path: Path, baskets: tuple[pa.Table, bk.Policy, dict[str, str]]
) -> None:
    table, policy, _ = baskets
    frame = spark.createDataFrame(table)
    for sets, words in [
        ({"method__algorithm": "lra"}, "aa"),
        ({"method__recoding": "local"}, "recoding|local"),
        ({"privacy__k": 5000}, "exceeds"),
    ]:
        with pytest.raises(bk.BosketError, match=words):
            bk.spark.anonymize(frame, policy.with_(**sets), tmp_path / "out")
    with pytest.raises(bk.PolicyError, match="folder"):
        bk.spark.anonymize(frame, policy, "hdfs://there/out")
    (tmp_path / "taken").mkdir()
    with pytest.raises(bk.PolicyError, match="exists already"):
        bk.spark.anonymize(frame, policy, tmp_path / "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "taken"]


@pytest.fixture
def students(run: Run, tmp_path: Path) -> tuple[pa.Table, bk.Policy, dict[str, str]]:
    """Trees with sensitive values, to be clustered."""
    run("generate", "students", "--students", "400", "--out", "data")
    table = pa.json.read_json(tmp_path / "data/data.ndjson")
    pq.write_table(table, tmp_path / "data/in.parquet")
    sets = PARQUET | {"method.cells": "3"}
    return table, with_sets(bk.Policy.load(tmp_path / "data/policy.toml"), sets), sets


def test_clusters_in_cells(
    spark: Any, run: Run, tmp_path: Path, students: tuple[pa.Table, bk.Policy, dict[str, str]]
) -> None:
    table, policy, sets = students
    expected = anonymized(run, tmp_path, sets)
    seen = []
    for round, partitions in enumerate([3, 1]):
        out = tmp_path / f"out-{round}"
        pub = bk.spark.anonymize(spark.createDataFrame(table).repartition(partitions), policy, out, records_per_part=150)
        seen.append(bytes_of(out))
    assert seen[0] == seen[1]
    assert published(tmp_path / "out-0").equals(expected)
    assert bk.spark.verify(tmp_path / "out-0", policy, spark=spark)
    assert pub.records + pub.certificate["suppressed"]["records_suppressed"] == table.num_rows
    certificate = str(tmp_path / "out-1.certificate.json")
    assert "AS CERTIFIED" in run("verify", str(tmp_path / "out-1"), "--certificate", certificate)
    # Raw records do not look alike.
    assert not bk.spark.verify(spark.createDataFrame(table.drop_columns(["sid"])), policy)


def test_who_is_left_over_comes_into_several_cells(
    spark: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("generate", "students", "--students", "4000", "--out", "data")
    table = pa.json.read_json(tmp_path / "data/data.ndjson")
    pq.write_table(table, tmp_path / "data/in.parquet")
    sets = PARQUET | {"method.cells": "48"}
    policy = with_sets(bk.Policy.load(tmp_path / "data/policy.toml"), sets)
    expected = anonymized(run, tmp_path, sets)
    asked: list[int] = []
    again = _native.cells_again

    def cells_again(*given: Any) -> int:
        asked.append(again(*given))
        return asked[-1]

    monkeypatch.setattr(_native, "cells_again", cells_again)
    bk.spark.anonymize(spark.createDataFrame(table).repartition(3), policy, tmp_path / "out")
    assert len(asked) == 1 and asked[0] > 1
    # What is removed may be left as a column of gaps.
    assert published(tmp_path / "out").select(expected.column_names).equals(expected)
