"""What a run on a cluster is: jobs over the data, and between them what the driver makes of their results.

```text
survey ─► plan ─► frequencies ─► search ⇄ kernels ─► recode ─► sort, cut into parts ─► write ─► judge each part ─► certificate
```
"""

from __future__ import annotations

import bisect
import json
import math
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from . import _native
from ._errors import DataError, Defect, Diagnostic, EnvironmentFault, PolicyError
from ._policy import Policy
from ._results import Verdict

__all__ = ["Published", "Run", "active"]

NativePolicy: TypeAlias = tuple[str, str | None, list[str]]
Batches: TypeAlias = Iterator[pa.RecordBatch]

_MEMORY = 512 << 20
"""Bytes that a task may take, unless it is told otherwise."""

_ROWS = 100_000
"""Rows that are looked at together."""

_PARTITION_BITS = 12
"""A task has at most so many times `_ROWS` rows, as a power of two."""

_SAMPLE = 200
"""Texts per shard by which shards are chosen."""

_STATE = "shard int, state binary"
_STATES = pa.schema([("shard", pa.int32()), ("state", pa.binary())])
_TEXT = "shard int, text binary"
_TEXTS = pa.schema([("shard", pa.int32()), ("text", pa.binary())])


def active() -> SparkSession:
    """The session that there is."""
    session = SparkSession.getActiveSession()
    if session is None:
        raise EnvironmentFault("there is no session of Spark: start one, or name it with spark=")
    return session


def _error(kind: type[DataError] | type[PolicyError], message: str, help: str) -> DataError | PolicyError:
    text = f"error: {message}\n help: {help}"
    return kind([Diagnostic(severity="error", message=message, help=help, text=text)])


def _begin() -> int:
    """The number of this task; its threads are those that Spark gives it."""
    context = TaskContext.get()
    if context is None:
        raise RuntimeError("this is no task of Spark")
    os.environ.setdefault("RAYON_NUM_THREADS", str(context.cpus()))
    return context.partitionId()


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """The rows of this task by some at a time, each with a number of its own among all tasks."""
    partition = _begin()
    rows, held, number = 0, [], 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS:
            yield partition << _PARTITION_BITS | number, pa.Table.from_batches(held)
            rows, held, number = 0, [], number + 1
            if number >> _PARTITION_BITS:
                raise RuntimeError(f"a partition has more than {_ROWS << _PARTITION_BITS} rows: repartition the data")
    if rows:
        yield partition << _PARTITION_BITS | number, pa.Table.from_batches(held)


def _state(shard: int, state: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([shard], pa.int32()), pa.array([state], pa.binary())], schema=_STATES)


class Published:
    """A publication in parts that was verified: where it is, and what is known about it."""

    def __init__(self, path: str, found: dict[str, Any], certificate: str, messages: dict[str, int]) -> None:
        self.path = path
        """The folder."""
        self.records = int(found["records"])
        """How many records were published."""
        self.sentence: str = found["sentence"]
        """What is promised."""
        self.certificate: dict[str, Any] = json.loads(certificate)
        """What is claimed, and by which hashes the parts are known."""
        self.messages = messages
        """Bytes of the largest message of each kind that went between tasks and the driver."""

    @property
    def files(self) -> list[str]:
        """The parts, in their order."""
        return [file["name"] for file in self.certificate["publication"]["files"]]

    def __repr__(self) -> str:
        parts = len(self.files)
        return f"Published({self.path!r}, {self.records:,} records in {parts:,} part{'s' if parts != 1 else ''})"


class Run:
    """A run of a policy on a cluster."""

    def __init__(self, spark: SparkSession, policy: Policy, memory: int | None) -> None:
        self.spark = spark
        self.memory = memory or _MEMORY
        self.given = policy._native()
        self.messages: dict[str, int] = {}

    def _policy(self, folder: str | None) -> tuple[NativePolicy, str | None]:
        path, text, sets, published = _native.spark_policy(self.given, folder)
        return (path, text, sets), published

    # ---- merging ---------------------------------------------------------------------------------------------------

    def _noted(self, what: str, state: bytes) -> bytes:
        self.messages[what] = max(self.messages.get(what, 0), len(state))
        return state

    def _merged(
        self,
        what: str,
        data: DataFrame,
        count: Callable[[pa.Table, int], bytes],
        merge: Callable[[list[bytes]], bytes],
    ) -> bytes:
        """Counts all rows and merges what was found: first in each task, then by shards, then here."""
        tasks = max(1, data.rdd.getNumPartitions())
        shards = max(1, math.isqrt(tasks))

        def counted(batches: Batches) -> Batches:
            states = [count(rows, number) for number, rows in _chunks(batches)]
            if states:
                yield _state(_begin() % shards, merge(states) if len(states) > 1 else states[0])

        return self._gathered(what, data.mapInArrow(counted, _STATE), merge)

    def _gathered(self, what: str, states: DataFrame, merge: Callable[[list[bytes]], bytes]) -> bytes:
        def shard(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            held: list[bytes] = []
            number = 0
            for batch in batches:
                number = batch.column("shard")[0].as_py() if batch.num_rows else number
                held.extend(batch.column("state").to_pylist())
                held = [merge(held)]
            yield _state(number, held[0])

        found = states.groupBy("shard").applyInArrow(shard, _STATE).collect()
        few = [self._noted(f"{what} of a shard", bytes(row["state"])) for row in sorted(found, key=lambda row: row["shard"])]
        if not few:
            raise _error(DataError, "there is no record", "check that it is the right data")
        return self._noted(what, merge(few))

    # ---- verifying -------------------------------------------------------------------------------------------------

    def verify_folder(self, folder: str) -> Verdict:
        policy, _ = self._policy(folder)
        state = self._judged(policy, folder)
        found, _ = _native.spark_verdict(policy, folder, state, None, self.memory)
        return Verdict(json.loads(found))

    def verify_rows(self, rows: DataFrame) -> Verdict:
        policy, _ = self._policy(None)
        memory = self.memory
        state = self._merged(
            "knowledge",
            rows,
            lambda table, number: _native.spark_judge_rows(policy, table, number, memory),
            lambda states: _native.spark_merge_judged(policy, states, memory),
        )
        found, _ = _native.spark_verdict(policy, None, state, None, memory)
        return Verdict(json.loads(found))

    def _judged(self, policy: NativePolicy, folder: str) -> bytes:
        """What is found in the parts of a folder, each judged from its bytes by a task."""
        memory = self.memory
        parts = sum(1 for name in os.listdir(folder) if name.startswith("part-"))
        if parts == 0:
            # Somebody has to say what is wrong with it.
            return b""
        tasks = min(parts, max(1, self.spark.sparkContext.defaultParallelism * 4))
        shards = max(1, math.isqrt(tasks))
        numbers = self.spark.range(0, parts, 1, tasks)

        def judged(batches: Batches) -> Batches:
            shard = _begin() % shards
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield _state(shard, _native.spark_judge_part(policy, folder, number, memory))

        def merge(states: list[bytes]) -> bytes:
            return _native.spark_merge_judged(policy, states, memory)

        return self._gathered("knowledge", numbers.mapInArrow(judged, _STATE), merge)
