"""Frames that cannot be read: a clear exception, nothing lost, never a panic."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bosket as bk
from conftest import policy, table

AGES = {"age": {"role": "quasi", "hierarchy": {"build": "interval", "min": 0, "max": 100, "widths": [10, 50]}}}


def of_ages(**more: Any) -> bk.Policy:
    return bk.Policy(model="k-anonymity", k=2, attributes=AGES | more)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pa.table({"age": [1, 2], "long": pa.array([dt.timedelta(1)] * 2)}), "which no attribute can hold"),
        (pa.table({"age": [1, 2], "long": pa.array([1, 2], pa.decimal256(50, 2))}), "which no attribute can hold"),
        (pa.table([pa.array([1]), pa.array([2])], names=["age", "age"]), "two columns of this name"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "two columns of this name"),
        (pd.DataFrame({"age": [1, "two", 3.5]}), "values of several types"),
        (pl.DataFrame({"age": [1, 2], "thing": [object(), object()]}), "Arrow|no attribute|binary data"),
        (pa.table({"age": pa.array([], pa.int64())}), "holds no record"),
        (pd.DataFrame({"age": []}), "holds no record"),
        (pd.DataFrame(), "no column"),
        (pa.table({"age": [1.0, float("inf")]}), "no finite number"),
        (pa.table({"age": [1, 2], "raw": [b"\xff", b"\xfe"]}), "binary data that is not text"),
        (pl.LazyFrame({"age": [1]}), "collect it first"),
        ([{"age": 1}], "is no frame"),
        ({}, "holds no frame"),
        (pa.table({"age": pa.array([[]], pa.list_(pa.struct([])))}), "no column in it"),
    ],
)
def test_a_frame_that_cannot_be_read(frame: Any, words: str) -> None:
    for call in (bk.inspect, lambda frame: bk.anonymize(frame, of_ages())):
        with pytest.raises(bk.DataError, match=words) as raised:
            call(frame)
        found = raised.value.diagnostics
        assert found and all(d.message and d.help for d in found)


def test_messages_hold_no_value() -> None:
    with pytest.raises(bk.DataError) as raised:
        bk.inspect(pd.DataFrame({"age": [1, "Gertrude", 3.5]}))
    assert "Gertrude" not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


def test_everything_that_is_wrong_is_told_at_once() -> None:
    wrong = pa.table({"age": [1], "a": pa.array([dt.timedelta(1)]), "b": pa.array([dt.timedelta(1)])})
    with pytest.raises(bk.DataError) as raised:
        bk.inspect(wrong)
    assert [d.path for d in raised.value.diagnostics] == ["a", "b"]


def test_a_column_that_the_policy_does_not_name() -> None:
    frame = pa.table({"age": [30, 31], "shoe": [40, 41]})
    with pytest.raises(bk.BosketError, match="shoe"):
        bk.anonymize(frame, of_ages())


def test_gaps_of_every_kind_are_gaps() -> None:
    expected = pa.table({"age": pa.array([30, None, 31, 32], pa.float64())})
    nan = pl.DataFrame({"age": [30.0, float("nan"), 31.0, 32.0]})
    gaps = [
        nan,
        pd.DataFrame({"age": [30.0, np.nan, 31.0, 32.0]}),
        pd.DataFrame({"age": pd.array([30, None, 31, 32], "Float64")}),
    ]
    look = bk.inspect(expected).to_dict()
    for frame in gaps:
        assert bk.inspect(frame).to_dict() == look


def test_times_without_a_value_and_with_a_zone() -> None:
    times = pd.Series(pd.to_datetime(["2024-01-01", None, "2024-01-03"]))
    frame = pd.DataFrame({"t": times, "z": times.dt.tz_localize("Europe/Berlin")})
    found = {a["path"]: a for a in bk.inspect(frame).attributes}
    assert (found["t"]["present"], found["z"]["present"]) == (2, 2)


def test_categories_are_their_values() -> None:
    values = ["a", "b", "a", "b"]
    plain = bk.inspect(pd.DataFrame({"c": values})).to_dict()
    wide = pd.Categorical(values, categories=["a", "b", "never"])
    assert bk.inspect(pd.DataFrame({"c": wide})).to_dict() == plain
    assert bk.inspect(pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)})).to_dict() == plain


def test_two_to_the_31_rows_of_nothing() -> None:
    frame = pa.table({"age": pa.nulls(2**31)})
    with pytest.raises(bk.DataError, match="rows, more than fit"):
        bk.inspect(frame, memory=2**30)


def test_the_index_of_pandas_is_no_data() -> None:
    frame = pd.DataFrame({"age": [30, 31]}, index=pd.Index(["Ann", "Bob"], name="who"))
    assert [a["path"] for a in bk.inspect(frame).attributes] == ["age"]


def test_a_policy_that_asks_for_too_much() -> None:
    with pytest.raises(bk.Unreachable, match="exceeds the 60 records"):
        bk.anonymize(table(), policy(model="kmn", k=100, m=2, n=1))
