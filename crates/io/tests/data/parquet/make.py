#!/usr/bin/env python3
"""Writes the Parquet files beside this script with pyarrow, an implementation that is not ours.

    pip install pyarrow && python3 make.py
"""
import datetime as dt
import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent

visit = pa.struct([
    ("hospital", pa.dictionary(pa.int32(), pa.string())),
    ("day", pa.date32()),
    ("diagnoses", pa.list_(pa.struct([("disease", pa.large_string()), ("since", pa.uint16())]))),
])
patients = pa.schema([
    pa.field("id", pa.int64(), nullable=False),
    ("alive", pa.bool_()),
    ("weight", pa.float32()),
    ("height", pa.float64()),
    ("fee", pa.decimal128(9, 2)),
    ("seen", pa.timestamp("us", tz="UTC")),
    ("noted", pa.timestamp("ms")),
    ("wakes", pa.time32("ms")),
    ("bio", pa.struct([("birthday", pa.date32()), ("sex", pa.string())])),
    ("tags", pa.list_(pa.string())),
    ("grid", pa.large_list(pa.list_(pa.int8()))),
    ("scores", pa.map_(pa.string(), pa.int32())),
    ("visits", pa.list_(visit)),
    ("empty", pa.null()),
])
utc = dt.timezone.utc
people = [
    {
        "id": 1, "alive": True, "weight": 72.5, "height": 0.1, "fee": decimal.Decimal("-12.30"),
        "seen": dt.datetime(2024, 2, 29, 12, 30, 0, 250000, tzinfo=utc),
        "noted": dt.datetime(1969, 12, 31, 23, 59, 59), "wakes": dt.time(6, 30),
        "bio": {"birthday": dt.date(1950, 3, 1), "sex": "f"}, "tags": ["a", "", None],
        "grid": [[1, 2], [], [-128]], "scores": [("x", 1), ("y", None)],
        "visits": [
            {"hospital": "H1", "day": dt.date(2020, 1, 1),
             "diagnoses": [{"disease": "J45", "since": 65535}, {"disease": "E11", "since": None}]},
            {"hospital": "H2", "day": None, "diagnoses": []},
        ],
    },
    {"id": 2, "bio": None, "tags": [], "visits": None},
    {"id": -3, "alive": False, "weight": 1e30, "height": -2.0, "fee": decimal.Decimal("9999999.99"),
     "bio": {"birthday": None, "sex": None}, "tags": None, "grid": None,
     "visits": [None, {"hospital": "H1", "diagnoses": [None]}]},
]
pq.write_table(pa.Table.from_pylist(people, patients), HERE / "patients.parquet", compression="snappy", row_group_size=2)

students = pa.table({
    "sid": pa.array([1, 2, 3], pa.int32()),
    "name": pa.array(["Ann", "Bob", None]),
    "born": pa.array([dt.date(2001, 5, 6), None, dt.date(1999, 12, 31)]),
    "photo": pa.array([b"\xff\x00", None, None], pa.binary()),
})
takes = pa.table({
    "scid": pa.array([10, 11, 12], pa.int64()),
    "sid": pa.array([1, 1, 3], pa.int32()),
    "course": pa.array(["CS", "", "MA"]).dictionary_encode(),
    "grade": pa.array([1.3, None, 2.0], pa.float64()),
    "passed": pa.array([True, None, False]),
    "fee": pa.array([decimal.Decimal("10.50"), None, decimal.Decimal("0.00")], pa.decimal128(20, 2)),
})
books = pa.table({"scid": pa.array([10, 10, 12], pa.int64()), "title": ["Sets", "Trees", "Sets"]})
pq.write_table(students, HERE / "student.parquet", compression="gzip")
pq.write_table(takes, HERE / "takes.parquet", compression="zstd", data_page_version="2.0")
pq.write_table(books, HERE / "book.parquet", compression="lz4", use_dictionary=False)
