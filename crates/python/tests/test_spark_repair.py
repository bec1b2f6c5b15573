"""Where kernels are only a proposal: all records decide, and whoever a kernel overlooked joins it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bosket as bk
from bosket import _native, _spark_kernels
from test_spark import clinic, published, with_sets  # noqa: F401

Run = Callable[..., str]

SCHEMA = pa.schema([
    ("name", pa.string()),
    ("a", pa.list_(pa.struct([("v", pa.string()), ("w", pa.string()), ("c", pa.list_(pa.struct([("v", pa.string())])))]))),
])


def hierarchy(letter: str) -> str:
    """Six values in three groups."""
    groups = [f'{{ label = "{letter}x{i}", values = ["{letter}{2 * i}", "{letter}{2 * i + 1}"] }}' for i in range(3)]
    return f'{{ build = "order", groups = [{", ".join(groups)}] }}'


POLICY = f"""
version = 1
source = {{ format = "parquet", path = "in.parquet" }}
attribute = [
    {{ path = "name", role = "identifying" }},
    {{ path = "a[].v", role = "quasi", hierarchy = {hierarchy("A")} }},
    {{ path = "a[].w", role = "quasi", hierarchy = {hierarchy("B")} }},
    {{ path = "a[].c[].v", role = "quasi", hierarchy = {hierarchy("C")} }},
]
privacy = {{ model = "kmn", k = 2, m = 3, n = 2, root = "chain", relations = "pair" }}
method = {{ algorithm = "gcs", recoding = "global", cost = "lm" }}
publish = {{ path = "published.parquet", rows = "united" }}
"""

ONE, OTHER = ["A0", "B0", "C1"], ["A1", "B1", "C0"]
_SOME = [
    [ONE, ["A2", "B2", "C0"]], [ONE, ["A1", "B2", "C2"]], [ONE, ["A2", "B1", "C2"]],
    [OTHER, ["A0", "B2", "C2"]], [OTHER, ["A2", "B0", "C2"]], [OTHER, ["A2", "B2", "C1"]],
]
PEOPLE = [*_SOME, *_SOME, [["A4", "B0"]], [["A4", "B1"]], [ONE, OTHER]]
"""The rows of each person by their values. Of the last one, every three values with their relations are those of two others: a kernel
can do without them. The two before make B0 and B1 one label, and then nobody else has A0 beside it in one row and C0 in another."""


def row(labels: list[str]) -> dict[str, Any]:
    of = {letter: [label for label in labels if label.startswith(letter)] for letter in "ABC"}
    return {"v": next(iter(of["A"]), None), "w": next(iter(of["B"]), None), "c": [{"v": label} for label in of["C"]]}


@pytest.fixture
def crowd(tmp_path: Path) -> bk.Policy:
    """People of whom a kernel at the leaves overlooks somebody."""
    folder = tmp_path / "data"
    folder.mkdir()
    made = [{"name": f"Person {i}", "a": [row(labels) for labels in rows]} for i, rows in enumerate(PEOPLE)]
    pq.write_table(pa.Table.from_pylist(made, schema=SCHEMA), folder / "in.parquet")
    (folder / "data.ndjson").write_text("".join(json.dumps(person) + "\n" for person in made), "utf-8")
    (folder / "policy.toml").write_text(POLICY, "utf-8")
    return bk.Policy.load(folder / "policy.toml")


def bare(value: Any) -> Any:
    """A value without what formats differ in: gaps, empty lists, and numbers that stand among texts."""
    if isinstance(value, dict):
        return {key: kept for key, kept in ((key, bare(own)) for key, own in sorted(value.items())) if kept not in (None, [], {})}
    if isinstance(value, list):
        return [bare(own) for own in value]
    return None if value is None else str(value)


def records(rows: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(bare(row)) for row in rows)


def in_chunks(run: Run, folder: Path, sets: dict[str, str]) -> list[str]:
    """What one machine publishes in chunks, which it does not write as Parquet."""
    sets = sets | {"source.format": "ndjson", "source.path": "data.ndjson", "publish.path": "published.ndjson"}
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    run("anonymize", "data/policy.toml", "--chunk", "1000", *given)
    return records(json.loads(line) for line in (folder / "data/published.ndjson").read_text("utf-8").splitlines())


def test_records_that_a_kernel_overlooks_join_it(spark: Any, run: Run, tmp_path: Path, crowd: bk.Policy) -> None:
    expected = in_chunks(run, tmp_path, {})
    # Rows of one file are one partition, in their order: the kernel is that of one machine.
    rows = spark.read.parquet(str(tmp_path / "data/in.parquet"))
    for name, frame in [("one", rows), ("three", rows.repartition(3))]:
        out = tmp_path / name
        with pytest.warns(bk.BosketWarning, match="another cut might have lost less"):
            pub = bk.spark.anonymize(frame, crowd, out, records_per_part=7)
        assert pub.records == len(PEOPLE)
        assert bk.spark.verify(out, crowd, spark=spark)
        assert "AS CERTIFIED" in run("verify", str(out), "--certificate", f"{out}.certificate.json")
        if name == "one":
            assert pub.messages["overlooked"] > 0, "nobody was overlooked"
            assert records(published(out).to_pylist()) == expected
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("sets", [
    {"method.algorithm": "best"},
    {"method.algorithm": "gcs", "method.cost": "rpd"},
    {"privacy.relations": "pair", "privacy.n": "2", "privacy.m": "3", "publish.rows": "united"},
], ids=["best", "rpd", "pairs"])
def test_proposals_are_those_of_one_machine_in_chunks(
    spark: Any, run: Run, tmp_path: Path, clinic: tuple[pa.Table, bk.Policy, dict[str, str]], sets: dict[str, str]
) -> None:
    _, policy, given = clinic
    sets = given | sets
    policy = with_sets(policy, sets)
    expected = in_chunks(run, tmp_path, sets)
    with pytest.warns(bk.BosketWarning, match="another cut might have lost less"):
        pub = bk.spark.anonymize(spark.read.parquet(str(tmp_path / "data/in.parquet")), policy, tmp_path / "out")
    assert records(published(tmp_path / "out").to_pylist()) == expected
    theirs = json.loads((tmp_path / "data/published.ndjson.certificate.json").read_text("utf-8"))
    assert pub.certificate["claim"] == theirs["claim"]
    assert pub.certificate["loss"]["rpd"] == pytest.approx(theirs["loss"]["rpd"], rel=1e-8)


def poor_searches(monkeypatch: pytest.MonkeyPatch, few: pa.Table, poor: int) -> list[tuple[bool, bool]]:
    """Lets the first searches of a run see a kernel of few records alone. Tells, of every search, whether it might take relations
    apart, and whether it had records that were overlooked before."""
    asked: list[tuple[bool, bool]] = []
    search = _native.spark_search

    def poorly(plan: bytes, sums: bytes, given: tuple[bool, bytes], kernels: Any, memory: int) -> tuple[bytes, bool]:
        asked.append((given[0], given[1] != b""))
        if len(asked) <= poor:
            def kernels(labels: list[int], size: int) -> bytes:
                return _native.spark_kernel(plan, (labels, size), few, 0, memory)

        return search(plan, sums, given, kernels, memory)

    monkeypatch.setattr(_native, "spark_search", poorly)
    return asked


def test_a_kernel_that_lacks_records_is_repaired_or_refused(
    spark: Any, tmp_path: Path, clinic: tuple[pa.Table, bk.Policy, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Injected: kernels themselves are never so poor. One of one person, many times, sees nothing rare."""
    table, policy, given = clinic
    policy = with_sets(policy, given | {"method.cost": "rpd"})
    few = pa.concat_tables([table.slice(0, 1)] * 20)
    frame = spark.createDataFrame(table).repartition(3)
    monkeypatch.setattr(_spark_kernels, "ROUNDS", 1)
    asked = poor_searches(monkeypatch, few, 1)
    with pytest.warns(bk.BosketWarning, match="another cut might have lost less"):
        bk.spark.anonymize(frame, policy, tmp_path / "out", records_per_part=150)
    assert asked == [(True, False), (False, True)]
    assert bk.spark.verify(tmp_path / "out", policy, spark=spark)

    monkeypatch.undo()
    monkeypatch.setattr(_spark_kernels, "ROUNDS", 1)
    asked = poor_searches(monkeypatch, few, 9)
    with pytest.raises(bk.Unreachable, match="does not hold for all records"):
        bk.spark.anonymize(frame, policy, tmp_path / "never")
    assert asked == [(True, False), (False, True)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out", "out.certificate.json"]


def test_relations_that_give_somebody_away_are_not_taken_apart(
    spark: Any, tmp_path: Path, crowd: bk.Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = {"privacy.root": "separate", "privacy.missing": "nothing", "privacy.m": "2", "privacy.n": "1"}
    policy = with_sets(crowd, sets)
    two = [["A0", "B0"], ["A2", "B2"]]
    people = [two] * 5 + [two[:1]] * 5 + [two[1:]] * 5 + [[["A0", "B2"]], [["A2", "B0"]]]
    table = pa.Table.from_pylist([{"name": "", "a": [row(labels) for labels in rows]} for rows in people], schema=SCHEMA)
    # The first search does not see the last person, so that only the relation of the one before is taken apart.
    asked = poor_searches(monkeypatch, table.slice(0, len(people) - 1), 1)
    with pytest.warns(bk.BosketWarning, match="another cut might have lost less"):
        pub = bk.spark.anonymize(spark.createDataFrame(table).repartition(2), policy, tmp_path / "out", records_per_part=7)
    # What is done is to keep all relations; nobody's records are looked for.
    assert asked == [(True, False), (False, False)] and "overlooked" not in pub.messages
    assert bk.spark.verify(tmp_path / "out", policy, spark=spark)
