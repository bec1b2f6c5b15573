"""What the tasks of a cluster send, and how long they take: the figures of docs/spark.md.

    bosket generate baskets --transactions 1280000 --out baskets
    bosket generate clinic --people 320000 --out clinic
    bosket generate students --students 80000 --out students
    python scripts/spark-figures.py baskets 20000 80000 320000 1280000
    python scripts/spark-figures.py clinic 5000 20000 80000 320000
    python scripts/spark-figures.py students 20000 80000

Every task is run here, one after the other, as a cluster would run it, on partitions of 20,000 records. Baskets: `km`, k = 5,
m = 3, `aa`. Clinic: `kmn` as its policy asks, with `gcs` and global recoding. Students: cells of `l-diversity`, up to the cells.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.json

import bosket as bk
from bosket import _native

ROWS, MEMORY = 20_000, 512 << 20


class Told:
    """A line of the table per task."""

    def __init__(self, table: pa.Table, policy: bk.Policy) -> None:
        self.records = table.num_rows
        self.parts = [table.slice(at, ROWS) for at in range(0, self.records, ROWS)]
        path, text, sets, *_ = _native.spark_policy(policy._native(), "published")
        self.given = (str(path), text, sets)

    def job(self, what: str, task: Callable[[pa.Table, int], bytes], merge: Callable[[list[bytes]], bytes]) -> bytes:
        """Tells the processor time of all tasks per record, that of merging, the largest message, and what is merged."""
        begun = time.process_time()
        states = [task(part, number) for number, part in enumerate(self.parts)]
        tasks, begun = time.process_time() - begun, time.process_time()
        merged = merge(states) if len(states) > 1 else states[0]
        self.line(what, tasks, time.process_time() - begun, max(map(len, states)), len(merged))
        return merged

    def line(self, what: str, tasks: float, merging: float, largest: int, merged: int) -> None:
        took = f"{tasks * 1e6 / self.records:.1f} | {merging:.2f}"
        print(f"| {self.records:,} | {what} | {took} | {largest / 1e3:,.1f} | {merged / 1e3:,.1f} |", flush=True)

    def counted(self, what: str, plan: bytes = b"", found: bytes = b"") -> bytes:
        return self.job(
            what,
            lambda part, _: _native.spark_count(what, self.given, plan, found, part, MEMORY),
            lambda states: _native.spark_merge(what, states),
        )


def searched(told: Told) -> None:
    """The jobs of `km` and `kmn`."""
    plan, _, exact = _native.spark_plan(told.given, told.counted("survey"))
    sums = told.counted("frequencies", plan)
    first = True
    inside = 0.0

    def kernels(labels: list[int], size: int) -> bytes:
        nonlocal first, inside
        begun, cut = time.process_time(), (labels, size)
        at = "the leaves" if first else f"{len(set(labels)):,} labels"
        first = False
        merged = told.job(
            f"kernel for sets of {size} at {at}",
            lambda part, number: _native.spark_kernel(plan, cut, part, number, MEMORY),
            lambda states: _native.spark_merge_kernels(plan, cut, states, MEMORY),
        )
        inside += time.process_time() - begun
        return merged

    begun = time.process_time()
    found, _ = _native.spark_search(plan, sums, (exact, b""), kernels, MEMORY)
    told.line("search on the driver; plan, solution", 0, time.process_time() - begun - inside, len(plan), len(found))
    shape = told.counted("shape", plan, found)
    begun = time.process_time()
    texts = [_native.spark_recode(plan, found, shape, part, MEMORY) for part in told.parts]
    sizes = [sum(map(len, part)) for part in texts]
    told.line("recode; texts of all", time.process_time() - begun, 0, max(sizes), sum(sizes))
    judged(told, _native.spark_sheet(plan, found, shape, told.parts[0].slice(0, 1), MEMORY)[0], sorted(sum(texts, [])))


def judged(told: Told, sheet: bytes, texts: list[bytes]) -> None:
    """Writing and judging parts as large as those of the input."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        for number in range(len(told.parts)):
            path = os.path.join(folder, f"part-{number:05}.parquet")
            _native.spark_write_part(path, sheet, [], texts[number * ROWS : (number + 1) * ROWS])
        told.line("write", time.process_time() - begun, 0, 0, 0)
        told.job(
            "judge",
            lambda _, number: _native.spark_judge_part(told.given, folder, number, MEMORY),
            lambda states: _native.spark_merge_judged(told.given, states, MEMORY),
        )


def celled(told: Told) -> None:
    """The jobs before records are clustered, and the message that a cell is."""
    survey = told.counted("survey")
    facts = told.counted("facts")
    plan, _ = _native.cells_plan(told.given, survey, facts.decode())
    sample = told.job(
        "sample", lambda part, _: _native.cells_sample(plan, part, MEMORY), lambda states: _native.cells_together(states)
    )
    begun = time.process_time()
    splitter, cells = _native.cells_split(plan, sample, None)
    told.line(f"splitting into {cells:,} cells; plan, splitter", 0, time.process_time() - begun, len(plan), len(splitter))
    begun = time.process_time()
    for part in told.parts:
        _native.cells_assign(plan, splitter, part, MEMORY)
    told.line("assign", time.process_time() - begun, 0, 0, 0)


def baskets(folder: Path, count: int) -> None:
    with open(folder / "data.txt", encoding="utf-8") as lines:
        rows = [line.split() for line, _ in zip(lines, range(count))]
    policy = bk.Policy(
        model="km", k=5, m=3, algorithm="aa", folder=folder,
        attributes={"items[]": {"role": "quasi", "hierarchy": "hierarchies/item.csv"}},
    )
    searched(Told(pa.table({"items": pa.array(rows, pa.list_(pa.string()))}), policy))


def nested(folder: Path, count: int) -> pa.Table:
    with open(folder / "data.ndjson", "rb") as lines:
        text = b"".join(line for line, _ in zip(lines, range(count)))
    return pa.json.read_json(io.BytesIO(text))


def clinic(folder: Path, count: int) -> None:
    policy = bk.Policy.load(folder / "policy.toml").with_(
        source__format="parquet", method__algorithm="gcs", method__recoding="global", privacy__root="chain",
        publish__report="", publish__mapping="", publish__path="published",
    )
    searched(Told(nested(folder, count), policy))


def students(folder: Path, count: int) -> None:
    policy = bk.Policy.load(folder / "policy.toml").with_(source__format="parquet", publish__path="published", method__cells=4)
    celled(Told(nested(folder, count), policy))


if __name__ == "__main__":
    folder, *numbers = sys.argv[1:]
    work = {"baskets": baskets, "clinic": clinic, "students": students}[Path(folder).name]
    print("| records | task | µs per record | s merging | KB of a task | KB merged |\n| --- | --- | ---: | ---: | ---: | ---: |")
    for number in map(int, numbers):
        work(Path(folder), number)
