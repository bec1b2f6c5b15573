"""The three questions of WP 216 side by side with anonymeter, which asks them of flat tables."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conftest import BINARY

COLUMNS = ["town", "job", "age", "car", "illness"]
SIZES = {"town": 12, "job": 8, "age": 7, "car": 5, "illness": 6}
ATTACKS = 500


def people(count: int, seed: int) -> pd.DataFrame:
    """People of whom town, job and age tell the illness for the most part."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        town, job, age = draw.randrange(12), draw.randrange(8), draw.randrange(7)
        illness = (town + 2 * job + 3 * age) % 6 if draw.random() < 0.9 else draw.randrange(6)
        rows.append([town, job, age, draw.randrange(5), illness])
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.apply(lambda column: column.map(lambda value: f"{column.name} {value:02}"))


def policy(k: int) -> str:
    text = f"""version = 1

[source]
path = "data.csv"
format = "csv"

[privacy]
model = "kmn"
k = {k}
m = 5
n = 0

[method]
recoding = "global"

[publish]
path = "published.csv"
mapping = "mapping.csv"
"""
    for name, size in SIZES.items():
        values = [f"{name} {value:02}" for value in range(size)]
        half = size // 2
        groups = [{"label": f"{name} first", "values": values[:half]}, {"label": f"{name} last", "values": values[half:]}]
        told = ", ".join(f'{{ label = "{group["label"]}", values = {json.dumps(group["values"])} }}' for group in groups)
        text += f'\n[[attribute]]\npath = "{name}"\nrole = "quasi"\nhierarchy = {{ build = "order", groups = [{told}] }}\n'
    return text


def bosket(folder: Path, *args: str) -> str:
    done = subprocess.run([BINARY, *args], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(folder: Path) -> dict[str, Any]:
    """What Bosket finds."""
    found = json.loads(bosket(folder, "attack", "--policy", "policy.toml", "--guess", "--control", "control.csv", "--json"))
    questions: dict[str, Any] = found["questions"]
    return questions


@pytest.fixture(scope="module")
def groups() -> tuple[pd.DataFrame, pd.DataFrame]:
    """People of a publication, and people who are in none."""
    return people(600, 1), people(600, 2)


@pytest.fixture
def folder(tmp_path: Path, groups: tuple[pd.DataFrame, pd.DataFrame]) -> Path:
    for name, frame in zip(("data.csv", "control.csv"), groups, strict=True):
        frame.to_csv(tmp_path / name, index=False)
    return tmp_path


@pytest.fixture
def raw(folder: Path) -> dict[str, Any]:
    """What is found where everything is published as it is."""
    (folder / "policy.toml").write_text(policy(2))
    (folder / "published.csv").write_bytes((folder / "data.csv").read_bytes())
    pairs = "".join(f"{number},{number}\n" for number in range(1, 601))
    (folder / "mapping.csv").write_text("input_record,published_record\n" + pairs)
    return asked(folder)


def risks(evaluator: Any) -> tuple[Any, Any, Any, tuple[float, float]]:
    """Rates of hits among people and control, and the risk."""
    results = evaluator.results(confidence_level=0.95)
    risk = results.risk()
    return results.attack_rate, results.control_rate, risk.value, risk.ci


def inference(origin: pd.DataFrame, published: pd.DataFrame, control: pd.DataFrame) -> Any:
    evaluators = pytest.importorskip("anonymeter.evaluators")
    known = [name for name in COLUMNS if name != "illness"]
    return evaluators.InferenceEvaluator(
        ori=origin, syn=published, control=control, aux_cols=known, secret="illness", regression=False, n_attacks=ATTACKS
    ).evaluate(n_jobs=1)


def linking(origin: pd.DataFrame, published: pd.DataFrame, control: pd.DataFrame) -> Any:
    evaluators = pytest.importorskip("anonymeter.evaluators")
    halves = (COLUMNS[:3], COLUMNS[3:])
    return evaluators.LinkabilityEvaluator(
        ori=origin, syn=published, control=control, aux_cols=halves, n_attacks=ATTACKS, n_neighbors=1
    ).evaluate(n_jobs=1)


def test_rates_become_risks_as_in_anonymeter(raw: dict[str, Any]) -> None:
    confidence = pytest.importorskip("anonymeter.stats.confidence")
    told = [raw["singled_out"], raw["linked"], *raw["inferred"]]
    assert len(told) == 7
    for each in told:
        hits = [each[group]["hits"] for group in ("people", "control")]
        tries = each["people"]["tries"]
        assert tries == each["control"]["tries"] == ATTACKS
        theirs = confidence.EvaluationResults(
            n_attacks=(tries, tries, tries), n_success=hits[0], n_baseline=0, n_control=hits[1], confidence_level=0.95
        ).risk()
        ours = each["risk"]
        assert (ours["value"], ours["low"], ours["high"]) == pytest.approx((theirs.value, *theirs.ci), abs=1e-9)


def test_a_table_as_it_is_tells_as_much_as_anonymeter_finds(
    raw: dict[str, Any], groups: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    origin, control = groups
    illness = next(each for each in raw["inferred"] if each["path"] == "illness")
    people, others, risk, _ = risks(inference(origin, origin, control))
    assert illness["people"]["hits"] / ATTACKS == pytest.approx(people.value, abs=2 * people.error)
    assert illness["risk"]["value"] == pytest.approx(risk, abs=0.02) and risk > 0.9
    # Bosket asks all records that fit best rather than one, and is right about strangers more often.
    assert illness["control"]["hits"] / ATTACKS >= others.value - others.error
    # A half fits many records. anonymeter takes one of them, Bosket the one that fits both halves.
    people, _, risk, _ = risks(linking(origin, origin, control))
    assert raw["linked"]["people"]["hits"] / ATTACKS >= people.value - people.error
    assert raw["linked"]["risk"]["low"] >= risk > 0


def test_little_is_found_behind_one_cut_by_either(folder: Path, groups: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    (folder / "policy.toml").write_text(policy(20))
    bosket(folder, "anonymize", "policy.toml")
    ours = asked(folder)
    assert all(each["risk"]["low"] <= 0.02 for each in [ours["singled_out"], ours["linked"], *ours["inferred"]])
    published = pd.read_csv(folder / "published.csv", dtype=str)
    pairs = pd.read_csv(folder / "mapping.csv").set_index("input_record")["published_record"]
    origin, control = groups
    labels = published.iloc[[pairs[number] - 1 for number in range(1, len(origin) + 1)]].reset_index(drop=True)
    cut = {name: dict(zip(origin[name], labels[name], strict=True)) for name in COLUMNS}
    outside = control.apply(lambda column: column.map(cut[column.name]))
    assert not outside.isna().any(axis=None)
    for evaluator in (inference, linking):
        _, _, _, (low, _) = risks(evaluator(labels, published, outside))
        assert low <= 0.02
