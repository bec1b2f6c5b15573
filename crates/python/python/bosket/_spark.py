"""What a run on a cluster is: jobs over the data, and between them what the driver makes of their results.

```text
survey ─► plan ─► frequencies ─► search ⇄ kernels ─► recode ─► sort, cut into parts ─► write ─► judge each part ─► certificate
```
"""

from __future__ import annotations

import bisect
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, StructField, StructType

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
        def shard(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _begin()
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
        policy, _, work = self._policy(folder)
        if work == "sides":
            with _jobs():
                found, _ = _sides().judged(self, policy, folder, None)
            return Verdict(json.loads(found))
        with _jobs():
            state = self._judged(policy, folder)
        found, _ = _native.spark_verdict(policy, folder, state, None, self.memory)
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
        found, _ = _native.spark_verdict(policy, None, state, None, memory)
        return Verdict(json.loads(found))

    def _judged(self, policy: NativePolicy, folder: str) -> bytes:
        """What is found in the parts of a folder, each judged from its bytes by a task."""
        memory = self.memory
        parts = _native.spark_parts(policy, folder)
        tasks = min(parts, max(1, self.spark.sparkContext.defaultParallelism * 4))
        numbers = self.spark.range(0, parts, 1, tasks)

        def judged(batches: Batches) -> Batches:
            shard = _begin() % _SHARDS
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield _state(shard, _native.spark_judge_part(policy, folder, number, memory))

        def merge(states: list[bytes]) -> bytes:
            return _native.spark_merge_judged(policy, states, memory)

        return self._gathered("knowledge", numbers.mapInArrow(judged, _STATE), merge)

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
                    made = Cells(self, policy, data).made()
                    found, certificate = self._tried(policy, made, place, records_per_part)
                else:
                    known = self._known(policy, data)
                    made = self._made(policy, data, known, True)
                    found, certificate = self._tried(policy, made, place, records_per_part)
                    if certificate is None and not known.exact:
                        # Relations that were taken apart may give somebody away: then none are.
                        place.empty()
                        made = self._made(policy, data, known, False)
                        found, certificate = self._tried(policy, made, place, records_per_part)
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

    def _known(self, policy: NativePolicy, data: DataFrame) -> _Known:
        survey = self._counted("survey", data, policy, b"", b"")
        plan, records, exact = _native.spark_plan(policy, survey)
        frequencies = self._counted("frequencies", data, policy, self._noted("plan", plan), b"")
        return _Known(plan, frequencies, records, exact)

    def _tried(self, policy: NativePolicy, made: Made, place: _Place, size: int) -> tuple[str, str | None]:
        """Writes what was made, and judges it from its bytes: the verdict, and a certificate if it holds."""
        told, sheet, texts = made
        texts.persist(StorageLevel.DISK_ONLY)
        try:
            self._write(texts, sheet, place.staging, size)
        finally:
            texts.unpersist()
        place.tidy()
        state = self._judged(policy, place.staging)
        return _native.spark_verdict(policy, place.staging, state, told, self.memory)

    def _made(self, policy: NativePolicy, data: DataFrame, known: _Known, may_part: bool) -> Made:
        """What is told about the solution, the columns of all parts, and the texts of all published records, in no order."""
        memory, plan, frequencies = self.memory, known.plan, known.frequencies

        def kernels(labels: list[int], size: int) -> bytes:
            cut = (labels, size)

            def kernel(rows: pa.Table, number: int) -> bytes:
                return _native.spark_kernel(plan, cut, rows, number, memory)

            def merge(states: list[bytes]) -> bytes:
                return _native.spark_merge_kernels(plan, cut, states, memory)

            return self._merged(f"kernel for sets of {size}", data, kernel, merge)

        found = self._noted("solution", _native.spark_search(plan, frequencies, may_part, kernels, memory))
        shape = self._counted("shape", data, policy, plan, found)
        sheet, published, told = _native.spark_sheet(plan, found, shape, self.source(data), memory)
        if published != known.records:
            raise _changing()

        def recoded(batches: Batches) -> Batches:
            for _, rows in _chunks(batches):
                yield from _texts(_native.spark_recode(plan, found, shape, rows, memory))

        return told, sheet, data.mapInArrow(recoded, "text binary")

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


_PUBLISHED, _LEFT, _TALLY = 0, 1, 2
_RELEASE = "kind int, state binary"


def _released(made: tuple[bytes, bytes, str]) -> pa.RecordBatch:
    published, left, tally = made
    kinds = pa.array([_PUBLISHED, _LEFT, _TALLY], pa.int32())
    return pa.RecordBatch.from_arrays([kinds, pa.array([published, left, tally.encode()], pa.binary())], ["kind", "state"])


class Cells:
    """Clusters: records are put into cells of like ones, and every cell is clustered by a task of its own."""

    def __init__(self, run: Run, policy: NativePolicy, data: DataFrame) -> None:
        self.run, self.policy, self.data = run, policy, data
        self._held: list[DataFrame] = []

    def made(self) -> Made:
        run, memory = self.run, self.run.memory
        survey = run._counted("survey", self.data, self.policy, b"", b"")
        facts = run._counted("facts", self.data, self.policy, b"", b"")
        plan, _ = _native.cells_plan(self.policy, survey, facts.decode())
        run._noted("plan", plan)
        try:
            released = self._hold(self._clustered(plan))
            # Figures are small, and are told by each cell once.
            tallies = [bytes(row["state"]).decode() for row in released.where(f"kind = {_TALLY}").collect()]
            tally, suppressed, told = _native.cells_tally(plan, sorted(tallies))
            source = run.source(self.data)

            def shaped(batches: Batches) -> Batches:
                shard = _begin() % _SHARDS
                for batch in batches:
                    for state in batch.column("state").to_pylist():
                        yield _state(shard, _native.cells_shape(plan, tally, state, source, memory))

            published = released.where(f"kind = {_PUBLISHED}")
            shapes = published.mapInArrow(shaped, _STATE)
            shape = run._gathered("shape", shapes, lambda states: _native.spark_merge("shape", states))
            sheet, count = _native.cells_sheet(shape, source, memory)
            if count + suppressed != records:
                raise _changing()

            def spelled(batches: Batches) -> Batches:
                for batch in batches:
                    for state in batch.column("state").to_pylist():
                        yield from _texts(_native.cells_texts(plan, tally, shape, state, source, memory))

            texts = published.mapInArrow(spelled, "text binary").persist(StorageLevel.DISK_ONLY)
            texts.count()
        finally:
            for held in self._held:
                held.unpersist()
        return told, sheet, texts

    def _hold(self, frame: DataFrame) -> DataFrame:
        """Keeps what several jobs need until all of it is made."""
        self._held.append(frame.persist(StorageLevel.DISK_ONLY))
        return frame

    def _clustered(self, plan: bytes) -> DataFrame:
        """What became of every cell: published records, and figures."""
        run, memory, data = self.run, self.run.memory, self.data
        sample = run._merged(
            "sample",
            data,
            lambda rows, _: _native.cells_sample(plan, rows, memory),
            _native.cells_together,
        )
        splitter, cells = _native.cells_split(plan, sample, None)
        found = {row["cell"]: row["count"] for row in self._assigned(plan, splitter).groupBy("cell").count().collect()}
        splitter, cells = _native.cells_joined(plan, splitter, [found.get(cell, 0) for cell in range(cells)])
        columns = data.columns

        def clustered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _begin()
            rows = pa.Table.from_batches(list(batches)).select(columns)
            yield _released(_native.cells_make(plan, rows, memory))

        released = self._hold(self._assigned(plan, splitter).groupBy("cell").applyInArrow(clustered, _RELEASE))

        # Who is left over in the first round is put into cells once more, if these are many, and then into one.
        made = released.where(f"kind <> {_LEFT}")
        left = released.where(f"kind = {_LEFT}")
        again = self._again(plan, left, cells)
        if again is not None:
            second = self._hold(self._clustered_again(plan, again, False))
            made = made.union(second.where(f"kind <> {_LEFT}"))
            left = second.where(f"kind = {_LEFT}")
        last = self._clustered_again(plan, left.withColumnRenamed("kind", "cell"), True)
        return made.union(last.where(f"kind <> {_LEFT}"))

    def _clustered_again(self, plan: bytes, left: DataFrame, last: bool) -> DataFrame:
        """What becomes of those who were left over, by cells."""
        memory = self.run.memory

        def clustered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            _begin()
            states = [state for batch in batches for state in batch.column("state").to_pylist()]
            yield _released(_native.cells_make_left(plan, states, last, memory))

        return left.groupBy("cell").applyInArrow(clustered, _RELEASE)

    def _again(self, plan: bytes, left: DataFrame, cells: int) -> DataFrame | None:
        """Those who were left over, by new cells; none where one cell is enough."""

        def counted(batches: Batches) -> Batches:
            for batch in batches:
                numbers = [_native.cells_records(state) for state in batch.column("state").to_pylist()]
                yield pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64())], ["records"])

        over = sum(row["records"] for row in left.mapInArrow(counted, "records long").collect())
        wanted = _native.cells_again(plan, over, cells)
        if wanted <= 1:
            return None

        def sampled(batches: Batches) -> Batches:
            shard = _begin() % _SHARDS
            for batch in batches:
                for state in batch.column("state").to_pylist():
                    yield _state(shard, _native.cells_sample_left(plan, state, over))

        sample = self.run._gathered("sample", left.mapInArrow(sampled, _STATE), _native.cells_together)
        splitter, cells = _native.cells_split(plan, sample, wanted)

        def parted(splitter: str) -> DataFrame:
            def own(batches: Batches) -> Batches:
                for batch in batches:
                    for state in batch.column("state").to_pylist():
                        for cell, number, part in _native.cells_parted(plan, splitter, state):
                            yield pa.RecordBatch.from_arrays(
                                [pa.array([cell], pa.int32()), pa.array([number], pa.int64()), pa.array([part], pa.binary())],
                                ["cell", "records", "state"],
                            )

            return left.mapInArrow(own, "cell int, records long, state binary")

        rows = parted(splitter).groupBy("cell").sum("records").collect()
        found = {row["cell"]: row["sum(records)"] for row in rows}
        splitter, _ = _native.cells_joined(plan, splitter, [found.get(cell, 0) for cell in range(cells)])
        return parted(splitter).select("cell", "state")

    def _assigned(self, plan: bytes, splitter: str) -> DataFrame:
        """The data with the cell of each row."""
        memory, schema = self.run.memory, self.data.schema

        def assigned(batches: Batches) -> Batches:
            _begin()
            for batch in batches:
                cells = _native.cells_assign(plan, splitter, batch, memory)
                yield batch.append_column("cell", pa.array(cells, pa.int32()))

        return self.data.mapInArrow(assigned, StructType([*schema.fields, StructField("cell", IntegerType())]))


def _sides() -> Any:
    from . import _spark_sides

    return _spark_sides


@dataclass(frozen=True)
class _Known:
    """What is known of all records before the search."""

    plan: bytes
    frequencies: bytes
    records: int
    exact: bool


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
