"""People to publish, and the command line to compare with."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import bosket as bk
import cluster

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("BOSKET", ROOT / "target/debug/bosket"))

CITIES = ["Bonn", "Köln", "Aachen", "Essen"]
CODES = ["J10", "J45", "E11", "I10", "S52"]


def people(count: int = 60, seed: int = 1) -> list[dict[str, Any]]:
    """People with a name, a year, a city, and visits with codes; some know little about some."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        visits = [
            {"year": draw.randint(2015, 2024), "codes": draw.sample(CODES, draw.randint(0, 2))}
            for _ in range(draw.randint(0, 3))
        ]
        made.append({
            "name": f"Person {number}",
            "born": None if draw.random() < 0.05 else draw.randint(1940, 2005),
            "home": {"city": draw.choice(CITIES)},
            "visits": visits,
        })
    return made


SCHEMA = pa.schema([
    ("name", pa.string()),
    ("born", pa.int64()),
    ("home", pa.struct([("city", pa.string())])),
    ("visits", pa.list_(pa.struct([("year", pa.int64()), ("codes", pa.list_(pa.string()))]))),
])


def table(count: int = 60) -> pa.Table:
    return pa.Table.from_pylist(people(count), schema=SCHEMA)


def groups(values: list[str]) -> dict[str, Any]:
    half = len(values) // 2
    return {"build": "order", "groups": [
        {"label": "first", "values": values[:half]}, {"label": "second", "values": values[half:]},
    ]}


ATTRIBUTES: dict[str, Any] = {
    "name": "identifying",
    "born": {"role": "quasi", "hierarchy": {"build": "interval", "min": 1900, "max": 2030, "widths": [10, 50]}},
    "home.city": {"role": "quasi", "hierarchy": groups(CITIES)},
    "visits[].year": {"role": "quasi", "hierarchy": {"build": "interval", "min": 2000, "max": 2030, "widths": [5, 10]}},
    "visits[].codes[]": {"role": "quasi", "hierarchy": groups(CODES)},
}


def policy(**privacy: Any) -> bk.Policy:
    return bk.Policy(attributes=ATTRIBUTES, **(privacy or {"model": "kmn", "k": 2, "m": 2, "n": 1}))


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs the command line in the test's folder."""
    if not BINARY.exists():
        pytest.fail(f"{BINARY} is not there: build it with `cargo build -p bosket`, or name it in BOSKET")

    def bosket(*args: str) -> str:
        done = subprocess.run([str(BINARY), *args], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return bosket


@pytest.fixture(scope="session")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    try:
        cluster.required()
    except cluster.Missing as missing:
        pytest.fail(str(missing))
    with cluster.Cluster(tmp_path_factory.mktemp("cluster") / "spark") as started:
        yield started


@pytest.fixture(scope="session")
def spark(workers: cluster.Cluster) -> Iterator[Any]:
    with workers.session() as session:
        yield session
