"""Clusters on a cluster: records are put into cells of like ones, and every cell is clustered by a task of its own.

```text
survey, facts ─► plan ─► sample ─► cells ─► clusters of each ─► clusters of those left over ─► texts
```
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, StructField, StructType

from . import _native
from ._spark import _SHARDS, _STATE, Batches, Made, NativePolicy, Run, _begin, _changing, _state, _texts

__all__ = ["Cells"]

_PUBLISHED, _LEFT, _TALLY = 0, 1, 2
_RELEASE = "kind int, state binary"


def _released(made: tuple[bytes, bytes, str]) -> pa.RecordBatch:
    published, left, tally = made
    kinds = pa.array([_PUBLISHED, _LEFT, _TALLY], pa.int32())
    return pa.RecordBatch.from_arrays([kinds, pa.array([published, left, tally.encode()], pa.binary())], ["kind", "state"])


class Cells:
    """Clusters of all records."""

    def __init__(self, run: Run, policy: NativePolicy, data: DataFrame) -> None:
        self.run, self.policy, self.data = run, policy, data
        self._held: list[DataFrame] = []

    def made(self) -> Made:
        run, memory = self.run, self.run.memory
        survey = run._counted("survey", self.data, self.policy, b"", b"")
        facts = run._counted("facts", self.data, self.policy, b"", b"")
        plan, records = _native.cells_plan(self.policy, survey, facts.decode())
        run._noted("plan", plan)
        try:
            released = self._hold(self._clustered(plan))
            # Figures are small, and are told by each cell once.
            tallies = [bytes(row["state"]).decode() for row in released.where(f"kind = {_TALLY}").collect()]
            tally, suppressed = _native.cells_tally(sorted(tallies))
            source = run.source(self.data)

            def shaped(batches: Batches) -> Batches:
                shard = _begin() % _SHARDS
                for batch in batches:
                    for state in batch.column("state").to_pylist():
                        yield _state(shard, _native.cells_shape(plan, tally, state, source, memory))

            published = released.where(f"kind = {_PUBLISHED}")
            shapes = published.mapInArrow(shaped, _STATE)
            shape = run._gathered("shape", shapes, lambda states: _native.spark_merge("shape", states))
            sheet, count, told = _native.cells_sheet(plan, (survey, tally), shape, source, memory)
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
