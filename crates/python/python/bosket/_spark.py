"""What a run on a cluster is: jobs over the data, and between them what the driver makes of their results.

```text
count, merge ─► plan ─► kernels, cells or sides ─► texts of published records ─► sort, cut into parts, write
             ─► judge each part ─► certificate
```
"""

from __future__ import annotations

import bisect
import itertools
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from . import _errors, _native
from ._errors import BosketError, DataError, Diagnostic, EnvironmentFault, PolicyError, Unreachable
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

_SHARDS = 16
"""Tasks that merge what other tasks have found, before the driver does."""

_BATCH = 10_000
"""Texts that are handed on together."""

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


def _error(kind: type[BosketError], message: str, help: str) -> BosketError:
    text = f"error: {message}\n help: {help}"
    return kind([Diagnostic(severity="error", message=message, help=help, text=text)])


_TOLD = re.compile(r"bosket\._errors\.(\w+): (error: .*?)(?=\n\s*at |\nTraceback|\n\s*\n|\n SQLSTATE|\s*$)", re.DOTALL)


def _raised(error: PySparkException) -> BosketError | None:
    """What a task has raised, where that is one of ours."""
    told = _TOLD.search(str(error))
    kind = getattr(_errors, told[1], None) if told else None
    if told is None or kind is None or not issubclass(kind, BosketError):
        return None
    text = told[2].rstrip()
    message, *rest = text.removeprefix("error: ").split("\n")
    help = next((line.split("help: ", 1)[1] for line in rest if " help: " in line), None)
    raised: BosketError = kind([Diagnostic(severity="error", message=message, help=help, text=text)])
    return raised


@contextmanager
def _jobs() -> Iterator[None]:
    """Jobs whose tasks may raise what a call on one machine would."""
    try:
        yield
    except PySparkException as error:
        ours = _raised(error)
        if ours is None:
            raise
        raise ours from None


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


Made: TypeAlias = tuple[str, bytes, DataFrame]
"""What is told about a solution, the columns of all parts, and the texts of all published records, in no order."""


def _texts(texts: list[bytes]) -> Batches:
    for at in range(0, len(texts), _BATCH):
        yield pa.RecordBatch.from_arrays([pa.array(texts[at : at + _BATCH], pa.binary())], ["text"])


class Published:
    """A publication in parts that was verified: where it is, and what is known about it."""

    def __init__(self, path: str, found: dict[str, Any], certificate: str, messages: dict[str, int]) -> None:
        self.path = path
        """The folder."""
        self.records = int(found["records"])
        """How many records were published."""
        self.sentence: str = found["sentence"]
        """What is promised."""
        self.sentences: list[str] = found["sentences"]
        """The same, a sentence per attacker, and what holds for all of them."""
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

    def _policy(self, folder: str | None) -> tuple[NativePolicy, str | None, str]:
        """The policy as tasks get it, where it publishes to, and how partitions are worked on."""
        path, text, sets, published, work = _native.spark_policy(self.given, folder)
        return (os.fspath(path), text, sets), None if published is None else os.fspath(published), work

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
        def counted(batches: Batches) -> Batches:
            states = [count(rows, number) for number, rows in _chunks(batches)]
            if states:
                yield _state(_begin() % _SHARDS, merge(states) if len(states) > 1 else states[0])

        return self._gathered(what, data.mapInArrow(counted, _STATE), merge)

    def _gathered(self, what: str, states: DataFrame, merge: Callable[[list[bytes]], bytes]) -> bytes:
        """Merges what tasks have found: by shards, then here. In one order, whichever task is done first: of several records that
        a kernel can do with it has the first."""

        def sharded(batches: Batches) -> Batches:
            _begin()
            held: list[bytes] = []
            now: int | None = None
            for batch in batches:
                rows = zip(batch.column("shard").to_pylist(), batch.column("state").to_pylist(), strict=True)
                for shard, own in itertools.groupby(rows, lambda row: row[0]):
                    if shard != now and now is not None:
                        yield _state(now, held[0])
                        held = []
                    now = shard
                    held = [merge(held + [state for _, state in own])]
            if now is not None:
                yield _state(now, held[0])

        ordered = states.repartition("shard").sortWithinPartitions("shard", "state")
        found = ordered.mapInArrow(sharded, _STATE).collect()
        few = [self._noted(f"{what} of a shard", bytes(row["state"])) for row in sorted(found, key=lambda row: row["shard"])]
        if not few:
            raise _error(DataError, "there is no record", "check that it is the right data")
        return self._noted(what, merge(few))

    # ---- verifying -------------------------------------------------------------------------------------------------

    def verify_folder(self, folder: str) -> Verdict:
        policy, _, work = self._policy(folder)
        if work == "sides":
            with _jobs():
                found, _ = _sides().judged(self, policy, folder, None)
            return Verdict(json.loads(found))
        with _jobs():
            states = self._judged(policy, folder)
        found, _ = _native.spark_verdict(policy, folder, states, None, self.memory)
        return Verdict(json.loads(found))

    def verify_rows(self, rows: DataFrame) -> Verdict:
        policy, _, work = self._policy(None)
        if work == "sides":
            raise _error(PolicyError, "rows of one frame cannot have two sides", "name the folder that was published")
        memory = self.memory
        with _jobs():
            state = self._merged(
                "knowledge",
                rows,
                lambda table, number: _native.spark_judge_rows(policy, table, number, memory),
                lambda states: _native.spark_merge_judged(policy, states, memory),
            )
            drawn = _native.spark_drawn(state)
            again = None if drawn is None else self._merged(
                "second count",
                rows,
                lambda table, number: _native.spark_recount_rows(policy, table, number, drawn, memory),
                lambda states: _native.spark_merge("recount", states),
            )
        found, _ = _native.spark_verdict(policy, None, (state, again), None, memory)
        return Verdict(json.loads(found))

    def _judged(self, policy: NativePolicy, folder: str) -> tuple[bytes, bytes | None]:
        """What is found in the parts of a folder, each judged from its bytes by a task; and what a second pass over all of them counts
        again, where the first has looked at some records only."""
        memory = self.memory

        def judge(number: int) -> bytes:
            return _native.spark_judge_part(policy, folder, number, memory)

        def merge(states: list[bytes]) -> bytes:
            return _native.spark_merge_judged(policy, states, memory)

        state = self._over_parts("knowledge", policy, folder, judge, merge)
        drawn = _native.spark_drawn(state)
        if drawn is None:
            return state, None

        def recount(number: int) -> bytes:
            return _native.spark_recount_part(policy, folder, number, drawn)

        self._noted("drawn knowledge", drawn)
        again = self._over_parts("second count", policy, folder, recount, lambda states: _native.spark_merge("recount", states))
        return state, again

    def _over_parts(
        self,
        what: str,
        policy: NativePolicy,
        folder: str,
        count: Callable[[int], bytes],
        merge: Callable[[list[bytes]], bytes],
    ) -> bytes:
        """What tasks find in the parts of a folder, merged."""
        parts = _native.spark_parts(policy, folder)
        tasks = min(parts, max(1, self.spark.sparkContext.defaultParallelism * 4))
        numbers = self.spark.range(0, parts, 1, tasks)

        def judged(batches: Batches) -> Batches:
            shard = _begin() % _SHARDS
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield _state(shard, count(number))

        return self._gathered(what, numbers.mapInArrow(judged, _STATE), merge)

    # ---- making ----------------------------------------------------------------------------------------------------

    def anonymize(
        self, data: DataFrame, path: str | os.PathLike[str] | None, records_per_part: int, force: bool
    ) -> Published:
        if records_per_part < 1:
            raise _error(PolicyError, "a part holds at least one record", "ask for records_per_part of 1 or more")
        policy, published, work = self._policy(None if path is None else os.fspath(path))
        if published is None:
            raise _error(PolicyError, "nobody says where the publication goes", "name a folder, or give the policy a publish.path")
        place = _Place(published, force)
        try:
            with _jobs():
                if work == "sides":
                    found, certificate = _sides().Sides(self, policy, data).tried(place, records_per_part)
                elif work == "cells":
                    made = _cells().Cells(self, policy, data).made()
                    found, certificate = self.tried(policy, made, place, records_per_part)
                else:
                    found, certificate = _kernels().Kernels(self, policy, data).tried(place, records_per_part)
            if certificate is None:
                raise _error(
                    Unreachable,
                    "what was found on kernels does not hold for all records, so nothing is published",
                    "ask for n = 0 or 1, or for relations = \"embedded\", or publish on one machine",
                )
            place.publish(certificate)
        finally:
            place.clear()
        return Published(place.path, json.loads(found), certificate, self.messages)

    def source(self, data: DataFrame) -> pa.Table:
        """A table with a row of gaps that has the types of the data."""
        schema = to_arrow_schema(data.schema)
        return pa.table([pa.nulls(1, field.type) for field in schema], names=schema.names)

    def tried(self, policy: NativePolicy, made: Made, place: _Place, size: int) -> tuple[str, str | None]:
        """Writes what was made, and judges it from its bytes: the verdict, and a certificate if it holds."""
        told, sheet, texts = made
        texts.persist(StorageLevel.DISK_ONLY)
        try:
            self._write(texts, sheet, place.staging, size)
        finally:
            texts.unpersist()
        place.tidy()
        states = self._judged(policy, place.staging)
        return _native.spark_verdict(policy, place.staging, states, told, self.memory)

    def _counted(self, what: str, data: DataFrame, policy: NativePolicy, plan: bytes, found: bytes) -> bytes:
        memory = self.memory

        def count(rows: pa.Table, _: int) -> bytes:
            return _native.spark_count(what, policy, plan, found, rows, memory)

        return self._merged(what, data, count, lambda states: _native.spark_merge(what, states))

    # ---- writing ---------------------------------------------------------------------------------------------------

    def _write(self, texts: DataFrame, sheet: bytes, staging: str, size: int) -> None:
        """Sorts all texts, cuts them into parts of equal size, and writes these."""
        self._cut(texts, size, lambda part, held: _native.spark_write_part(
            os.path.join(staging, f"part-{part:05}.parquet"), sheet, [], held
        ))

    def placed(self, texts: DataFrame, size: int, column: str, number: Callable[[int], int]) -> tuple[DataFrame, int, int]:
        """Texts with a number that follows from their place among all of them in order; how many there are, and in how many shards.

        Where shards begin is chosen by a sample and changes nothing.
        """
        bounds = self._bounds(texts, size)

        def sharded(batches: Batches) -> Batches:
            for batch in batches:
                own = batch.column(0)
                shards = [bisect.bisect_right(bounds, text) for text in own.to_pylist()] if bounds else [0] * len(own)
                yield pa.RecordBatch.from_arrays([pa.array(shards, pa.int32()), own], ["shard", "text"])

        shards = texts.mapInArrow(sharded, _TEXT)
        counts = {row["shard"]: row["count"] for row in shards.groupBy("shard").count().collect()}
        first, before = {}, 0
        for shard in sorted(counts):
            first[shard] = before
            before += counts[shard]

        def numbered(batches: Batches) -> Batches:
            # Sorted by shard and text: the next of a shard is the next of all.
            place = dict(first)
            for batch in batches:
                numbers = []
                for shard in batch.column("shard").to_pylist():
                    numbers.append(number(place[shard]))
                    place[shard] += 1
                yield pa.RecordBatch.from_arrays([pa.array(numbers, pa.int32()), batch.column("text")], [column, "text"])

        partitions = max(len(counts), 1)
        ordered = shards.repartition(partitions, "shard").sortWithinPartitions("shard", "text")
        return ordered.mapInArrow(numbered, f"{column} int, text binary"), before, partitions

    def _cut(self, texts: DataFrame, size: int, write: Callable[[int, list[bytes]], None]) -> None:
        """Sorts all texts, and has parts of equal size written, each by a task."""
        parts, count, partitions = self.placed(texts, size, "part", lambda place: place // size)

        def written(batches: Batches) -> Batches:
            held: list[bytes] = []
            now: int | None = None
            for batch in batches:
                for part, text in zip(batch.column("part").to_pylist(), batch.column("text").to_pylist(), strict=True):
                    if part != now and now is not None:
                        write(now, held)
                        yield _part(now, held)
                        held = []
                    now = part
                    held.append(text)
            if now is not None:
                write(now, held)
                yield _part(now, held)

        parts = parts.repartition(partitions, "part").sortWithinPartitions("part", "text")
        sizes = {row["part"]: row["records"] for row in parts.mapInArrow(written, "part int, records long").collect()}
        if [sizes.get(part) for part in range(len(sizes))] != [min(size, count - at) for at in range(0, count, size)]:
            raise _changing()

    def _bounds(self, texts: DataFrame, size: int) -> list[bytes]:
        """Texts between which shards lie, none where one shard is enough."""
        every = max(1, size // _SAMPLE)

        def sampled(batches: Batches) -> Batches:
            # Rows have no order, and any sample will do.
            skipped = _begin() % every
            for batch in batches:
                own = batch.column(0)
                chosen = own.take(pa.array(range(skipped, len(own), every), pa.int64()))
                skipped = (skipped - len(own)) % every
                yield pa.RecordBatch.from_arrays([chosen], ["text"])

        sample = sorted(bytes(row["text"]) for row in texts.mapInArrow(sampled, "text binary").collect())
        self._noted("sample of texts", b"".join(sample))
        return sample[_SAMPLE // 2 :: _SAMPLE]


# What these make is made by runs, and they are only needed where a policy asks for them.
def _kernels() -> Any:
    from . import _spark_kernels

    return _spark_kernels


def _cells() -> Any:
    from . import _spark_cells

    return _spark_cells


def _sides() -> Any:
    from . import _spark_sides

    return _spark_sides


def _part(number: int, texts: list[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([number], pa.int32()), pa.array([len(texts)], pa.int64())], ["part", "records"])


def _changing() -> BosketError:
    message = "the data is not the same from job to job: there are more or fewer records than before"
    return _error(DataError, message, "write it to files or persist it first, so that every job reads the same")


class _Place:
    """Where a publication goes: a folder that nobody looks into until it is complete."""

    def __init__(self, path: str, force: bool) -> None:
        # Paths that have been taken apart and put together again have lost a slash.
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path):
            message = "the publication goes to a folder, and this is an address"
            raise _error(PolicyError, message, "name a folder that the driver and all workers reach under the same name")
        target = Path(path).absolute()
        self.path = str(target)
        self.certificate = target.with_name(f"{target.name}.certificate.json")
        taken = [str(place) for place in (target, self.certificate) if place.exists()]
        if taken and not force:
            raise _error(PolicyError, f"{taken[0]} exists already", "force=True replaces it, or name another folder")
        self._folder = target.parent / f".{target.name}.{uuid.uuid4().hex}"
        self.staging = str(self._folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        self._folder.mkdir()

    def tidy(self) -> None:
        """Removes what tasks left that were killed while they wrote."""
        for entry in self._folder.rglob(".*"):
            entry.unlink()

    def empty(self) -> None:
        """Removes all that was written."""
        for entry in self._folder.iterdir():
            entry.unlink()

    def publish(self, certificate: str) -> None:
        """Gives the folder its name, and then the certificate."""
        written = self.certificate.with_name(f".{self.certificate.name}.{uuid.uuid4().hex}")
        target = Path(self.path)
        old = self._folder.with_name(f"{self._folder.name}.old")
        try:
            written.write_text(certificate, "utf-8")
            self.certificate.unlink(missing_ok=True)
            if target.exists():
                target.rename(old)
            self._folder.rename(target)
            written.rename(self.certificate)
        finally:
            written.unlink(missing_ok=True)
            shutil.rmtree(old, ignore_errors=True)

    def clear(self) -> None:
        """Leaves nothing of what was not published."""
        shutil.rmtree(self.staging, ignore_errors=True)
