"""The same people through every library, nested and linked, and back."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bosket as bk
from conftest import SCHEMA, people, policy, table


def of_pandas() -> Any:
    return table().to_pandas()


def of_duckdb() -> Any:
    frame = table()
    return duckdb.sql("from frame")


FRAMES = {
    "pyarrow": table,
    "batch": lambda: table().combine_chunks().to_batches()[0],
    "polars": lambda: pl.from_arrow(table()),
    "pandas": of_pandas,
    "pandas of arrow": lambda: table().to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": of_duckdb,
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_library_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    expected = bk.anonymize(table(), policy()).write(tmp_path / "expected.parquet").read_bytes()
    pub = bk.anonymize(FRAMES[name](), policy())
    assert pub.write(tmp_path / "out.parquet").read_bytes() == expected
    assert bk.verify(pub)


def test_a_publication_is_a_frame() -> None:
    pub = bk.anonymize(table(), policy())
    arrow = pa.table(pub)
    assert arrow.num_rows == pub.records == len(pl.DataFrame(pub)) == len(pub.to_pandas())
    assert duckdb.sql("select count(*) from pub").fetchall() == [(pub.records,)]
    assert pub.to_polars().equals(pl.DataFrame(pub))
    assert pub.to_arrow() == arrow
    assert "name" not in arrow.column_names
    assert arrow.schema.field("home").type.num_fields == 1


def test_what_comes_back_is_what_is_in_the_file(tmp_path: Path) -> None:
    pub = bk.anonymize(table(), policy())
    written = pq.read_table(pub.write(tmp_path / "out.parquet"))
    shown = pub.to_arrow()
    assert shown.to_pylist() == written.to_pylist()
    assert [f.name for f in shown.schema] == [f.name for f in written.schema]


def test_a_publication_that_was_read_by_somebody_else_is_verified() -> None:
    pub = bk.anonymize(table(), policy())
    assert bk.verify(pub.to_polars(), policy())
    assert not bk.verify(table().drop_columns(["name"]), policy())


EVERY = pa.table({
    "small": pa.array([1, 2] * 4, pa.int8()),
    "unsigned": pa.array([2**63, 2**64 - 1] * 4, pa.uint64()),
    "half": pa.array([0.5, 1.5] * 4, pa.float16()),
    "real": pa.array([0.1, 2.0] * 4, pa.float32()),
    "double": pa.array([0.1, 1e300] * 4, pa.float64()),
    "decimal": pa.array([Decimal("1.50"), Decimal("-2.25")] * 4, pa.decimal128(10, 2)),
    "day": pa.array([dt.date(2024, 2, 29), dt.date(1969, 12, 31)] * 4, pa.date32()),
    "day64": pa.array([dt.date(2024, 2, 29), dt.date(1969, 12, 31)] * 4, pa.date64()),
    "time": pa.array([dt.time(1, 2, 3), dt.time(23, 59)] * 4, pa.time64("us")),
    "second": pa.array([0, 1] * 4, pa.timestamp("s")),
    "zoned": pa.array([0, 1] * 4, pa.timestamp("us", tz="Europe/Berlin")),
    "large": pa.array(["a", "b"] * 4, pa.large_string()),
    "view": pa.array(["a", "b"] * 4, pa.string_view()),
    "category": pa.array(["x", "y"] * 4).dictionary_encode(),
    "bytes": pa.array([b"a", b"b"] * 4, pa.binary()),
    "truth": pa.array([True, False] * 4),
    "nothing": pa.nulls(8),
    "lists": pa.array([[1], [2]] * 4, pa.large_list(pa.int32())),
    "fixed": pa.array([[1, 2], [3, 4]] * 4, pa.list_(pa.int32(), 2)),
    "views": pa.array([[1], [2]] * 4, pa.list_view(pa.int32())),
    "map": pa.array([[("k", 1)], [("l", 2)]] * 4, pa.map_(pa.string(), pa.int64())),
})

def everything(leave_out: tuple[str, ...] = ()) -> bk.Policy:
    """Everything is published as it is, but for one quasi attribute, without which nothing is claimed."""
    lists = {"lists": ["lists[]"], "fixed": ["fixed[]"], "views": ["views[]"], "map": ["map[].key", "map[].value"]}
    columns = [name for name in EVERY.column_names if name not in leave_out]
    paths = [path for name in columns for path in lists.get(name, [name])]
    attributes: dict[str, Any] = {path: {"role": "insensitive", "acknowledge": True} for path in paths}
    attributes["large"] = {"role": "quasi", "hierarchy": {"build": "prefix"}}
    return bk.Policy(model="k-anonymity", k=2, attributes=attributes)


def test_all_types_are_read_as_from_a_file(tmp_path: Path) -> None:
    """A frame, and the Parquet file that its own library writes of it, are published as the same bytes."""
    # These are types of memory only.
    memory = ("half", "views", "view")
    frame = EVERY.drop_columns(list(memory))
    pq.write_table(frame, tmp_path / "in.parquet")
    by_path = bk.anonymize(tmp_path / "in.parquet", everything(memory)).write(tmp_path / "path.parquet")
    by_frame = bk.anonymize(frame, everything(memory)).write(tmp_path / "frame.parquet")
    assert by_frame.read_bytes() == by_path.read_bytes()


def test_all_types_come_back() -> None:
    pub = bk.anonymize(EVERY, everything())
    back = pub.to_arrow()
    shown = back.to_pylist()
    assert len(shown) == 8
    assert {row["decimal"] for row in shown} == {Decimal("1.50"), Decimal("-2.25")}
    assert {row["day"] for row in shown} == {dt.date(2024, 2, 29), dt.date(1969, 12, 31)}
    assert {row["unsigned"] for row in shown} == {2**63, 2**64 - 1}
    assert back.schema.field("zoned").type == pa.timestamp("us", tz="UTC")
    assert back.schema.field("small").type == pa.int8()
    assert {row["double"] for row in shown} == {0.1, 1e300}
    assert {tuple(row["views"]) for row in shown} == {(1,), (2,)}
    assert {tuple((e["key"], e["value"]) for e in row["map"]) for row in shown} == {(("k", 1),), (("l", 2),)}


def test_slices_hold_nothing_of_what_they_leave_out() -> None:
    whole = table(80)
    part = whole.slice(20, 50)
    copied = pa.Table.from_pylist(part.to_pylist(), schema=SCHEMA)
    look, again = bk.inspect(part), bk.inspect(copied)
    assert look.to_dict() == again.to_dict()


def linked() -> dict[str, pa.Table]:
    rows = people(40)
    visits = [
        {"visit_id": 10 * i + j, "person_id": i, "year": visit["year"]}
        for i, person in enumerate(rows)
        for j, visit in enumerate(person["visits"])
    ]
    persons = [{"person_id": i, "city": p["home"]["city"], "born": p["born"] or 1950} for i, p in enumerate(rows)]
    return {"person": pa.Table.from_pylist(persons), "visit": pa.Table.from_pylist(visits)}


LINKED = """
version = 1
[source]
format = "parquet"
[[source.table]]
name = "person"
path = "person.parquet"
key = "person_id"
[[source.table]]
name = "visit"
path = "visit.parquet"
key = "visit_id"
parent = "person"
foreign_key = "person_id"
[[attribute]]
path = "person.city"
role = "quasi"
hierarchy = { build = "order", groups = [["Aachen", "Bonn"], ["Essen", "Köln"]] }
[[attribute]]
path = "person.born"
role = "quasi"
hierarchy = { build = "interval", min = 1900, max = 2030, widths = [10, 50] }
[[attribute]]
path = "visit.year"
role = "quasi"
hierarchy = { build = "interval", min = 2000, max = 2030, widths = [5, 10] }
[privacy]
model = "kmn"
k = 2
m = 2
n = 1
[publish]
path = "published"
"""


def test_linked_frames_are_published_as_linked_files(tmp_path: Path, run: Any) -> None:
    frames = linked()
    for name, frame in frames.items():
        pq.write_table(frame, tmp_path / f"{name}.parquet")
    (tmp_path / "policy.toml").write_text(LINKED, "utf-8")
    run("anonymize", "policy.toml")
    pub = bk.anonymize(frames, bk.Policy(LINKED))
    pub.write(tmp_path / "frames")
    for name in frames:
        mine = (tmp_path / "frames" / f"{name}.parquet").read_bytes()
        assert mine == (tmp_path / "published" / f"{name}.parquet").read_bytes()
    assert set(pub.tables) == {"person", "visit"}
    assert pub.to_polars("person").height == 40
    assert bk.verify(pub) and bk.verify(tmp_path / "frames", bk.Policy(LINKED))
    with pytest.raises(bk.PolicyError, match="from their files"):
        bk.verify({n: pub.to_arrow(n) for n in frames}, bk.Policy(LINKED))
    with pytest.raises(bk.PolicyError, match="several tables"):
        pub.to_polars()


def test_linked_frames_of_polars_are_looked_at() -> None:
    frames = {name: pl.from_arrow(frame) for name, frame in linked().items()}
    look = bk.inspect(frames)
    assert look.records == 40
    drafted = look.draft().to_dict()["source"]["table"]
    assert [(t["name"], t.get("parent")) for t in drafted] == [("person", None), ("visit", "person")]


def test_frames_and_policies_that_do_not_go_together() -> None:
    with pytest.raises(bk.PolicyError, match="links tables, and one frame"):
        bk.anonymize(table(), bk.Policy(LINKED))
    with pytest.raises(bk.PolicyError, match="several frames"):
        bk.anonymize(linked(), policy())
    with pytest.raises(bk.PolicyError, match="no frame for the table `visit`"):
        bk.anonymize({"person": linked()["person"]}, bk.Policy(LINKED))
    source = '[source]\nformat = "xml"\npath = "x.xml"\nrecord = "a/b"\n[[attribute]]'
    xml = bk.Policy(policy().text.replace("[[attribute]]", source, 1).replace("visits[].", "visits/").replace("codes[]", "code"))
    with pytest.raises(bk.PolicyError, match="cannot stand for a source"):
        bk.anonymize(table(), xml)
