"""What a certificate from a cluster tells about the run is what one machine tells, and nothing is certified by damaged figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import bosket as bk
from bosket import _native
from test_spark import anonymized, baskets, clinic, students  # noqa: F401
from test_spark_sides import clinic as sided  # noqa: F401

Run = Callable[..., str]


def certificate(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "data/published.parquet.certificate.json").read_text("utf-8"))


@pytest.mark.parametrize("family", ["baskets", "clinic", "students"])
def test_what_is_kept_is_told(
    spark: Any, run: Run, tmp_path: Path, family: str, request: pytest.FixtureRequest
) -> None:
    table, policy, sets = request.getfixturevalue(family)
    anonymized(run, tmp_path, sets)
    theirs = certificate(tmp_path)
    out = tmp_path / "published"
    own = bk.spark.anonymize(spark.createDataFrame(table).repartition(3), policy, out, records_per_part=150).certificate
    assert own["kept"] and own["kept"] == theirs["kept"]
    assert own.get("legend") == theirs.get("legend")
    assert json.loads(Path(f"{out}.certificate.json").read_text("utf-8"))["kept"] == own["kept"]


def test_what_two_sides_keep_is_told(
    spark: Any, run: Run, tmp_path: Path, sided: tuple[pa.Table, bk.Policy]  # noqa: F811
) -> None:
    table, policy = sided
    run("anonymize", "data/policy.toml")
    theirs = json.loads((tmp_path / "data/published.certificate.json").read_text("utf-8"))
    out = tmp_path / "data/out"
    own = bk.spark.anonymize(spark.createDataFrame(table).repartition(3), policy, out, records_per_part=150).certificate
    assert own["kept"] and own["kept"] == theirs["kept"]
    # No value is generalized: there is nothing to explain.
    assert own.get("legend") is None and theirs.get("legend") is None


def test_what_groups_of_values_mean_is_told(spark: Any, tmp_path: Path) -> None:
    towns = pa.table({"town": [f"town {i % 6}" for i in range(120)]})
    attributes = {"town": {"role": "quasi", "hierarchy": {"build": "fanout", "fanout": 2}}}
    method = {"method__algorithm": "gcs", "method__recoding": "global"}
    policy = bk.Policy(attributes=attributes, model="kmn", k=30, m=1, n=0).with_(**method)
    theirs = bk.anonymize(towns, policy).certificate
    own = bk.spark.anonymize(spark.createDataFrame(towns).repartition(3), policy, tmp_path / "out").certificate
    assert own["legend"] and own["legend"] == theirs["legend"]
    assert own["kept"] and own["kept"] == theirs["kept"]


def without(key: str) -> Callable[[str], str]:
    def damage(told: str) -> str:
        figures = json.loads(told)
        del figures[key]
        return json.dumps(figures)

    return damage


def with_null(key: str) -> Callable[[str], str]:
    return lambda told: json.dumps(json.loads(told) | {key: None})


DAMAGES = {
    "no text": lambda _: "",
    "half of it": lambda told: told[: len(told) // 2],
    "nothing": lambda _: "{}",
    **{f"without {key}": without(key) for key in ("loss", "suppressed", "kept", "legend")},
    **{f"null as {key}": with_null(key) for key in ("loss", "suppressed", "kept")},
}


def test_damaged_figures_certify_nothing(
    spark: Any, tmp_path: Path, baskets: tuple[pa.Table, bk.Policy, dict[str, str]],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message about figures that does not arrive as it was sent: no loss was once certified then."""
    table, policy, _ = baskets
    frame = spark.createDataFrame(table).repartition(2).persist()
    verdict = _native.spark_verdict
    said: list[str] = []

    def heard(policy: Any, folder: str | None, states: Any, figures: str | None, memory: int) -> tuple[str, str | None]:
        said.append(str(figures))
        for name, damage in DAMAGES.items():
            with pytest.raises(bk.BosketError):
                verdict(policy, folder, states, damage(str(figures)), memory)
                pytest.fail(f"certified with {name}")
        return verdict(policy, folder, states, next(iter(DAMAGES.values()))(str(figures)), memory)

    monkeypatch.setattr(_native, "spark_verdict", heard)
    with pytest.raises(bk.BosketError):
        bk.spark.anonymize(frame, policy, tmp_path / "never", records_per_part=400)
    assert len(said) == 1 and json.loads(said[0])["kept"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]
