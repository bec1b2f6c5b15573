"""t-closeness and β-likeness side by side with pycanon, which measures both for tables of its own."""

from __future__ import annotations

import gzip
import io
import math
from typing import Any

import pandas as pd
import pytest

import bosket as bk
from conftest import ROOT

ADULT = ROOT.parent / "shared/data/flat-adult-arx"
QUASI = ["sex", "race", "marital-status", "education", "native-country", "workclass"]
FAR = 1e-9


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    """Every tenth row of Adult."""
    if not ADULT.is_dir():
        pytest.skip("../shared/data/flat-adult-arx is not here: nothing to compare with pycanon")
    text = gzip.decompress((ADULT / "adult.csv.gz").read_bytes()).decode()
    return pd.read_csv(io.StringIO(text), sep=";").iloc[::10].reset_index(drop=True)


def policy(sensitive: dict[str, dict[str, Any]], **privacy: Any) -> bk.Policy:
    known = {name: {"role": "quasi", "hierarchy": str(ADULT / f"hierarchies/adult_hierarchy_{name}.csv")} for name in QUASI}
    return bk.Policy(attributes={**known, **sensitive}, undeclared="drop", k=5, **privacy)


def farthest(pub: bk.Publication) -> dict[str, float]:
    """How far the farthest class is from all, as the verifier measured it."""
    verdict = bk.verify(pub)
    assert verdict
    found: dict[str, Any] = verdict.to_dict()
    return {each["path"]: each["distance"] for each in found["farthest"]}


def published(pub: bk.Publication) -> pd.DataFrame:
    frame = pub.to_pandas()
    return frame.astype({name: str for name in QUASI})


def test_distances_are_those_of_pycanon(adult: pd.DataFrame) -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    secrets = {"occupation": {"role": "sensitive"}, "age": {"role": "sensitive", "ground": "ordered"}}
    pub = bk.anonymize(adult, policy(secrets, model="t-closeness", t=0.3))
    frame, ours = published(pub), farthest(pub)
    # Words are as far from each other as can be, numbers by their ranks: the same in both.
    assert ours["occupation"] == pytest.approx(anonymity.t_closeness(frame, QUASI, ["occupation"]), abs=FAR)
    assert ours["age"] == pytest.approx(anonymity.t_closeness(frame, QUASI, ["age"]), abs=FAR)
    assert max(ours.values()) <= 0.3 + FAR
    assert anonymity.k_anonymity(frame, QUASI) >= 5


def test_gains_are_those_of_pycanon_and_its_enhanced_figure_is_another(adult: pd.DataFrame) -> None:
    anonymity = pytest.importorskip("pycanon.anonymity")
    pub = bk.anonymize(adult, policy({"occupation": {"role": "sensitive"}}, model="beta-likeness", beta=2))
    frame, ours = published(pub), farthest(pub)["occupation"]
    # The largest (q - p) / p is what pycanon calls basic β-likeness.
    assert ours == pytest.approx(anonymity.basic_beta_likeness(frame, QUASI, ["occupation"]), abs=FAR)
    assert ours <= 2 + FAR
    # Enhanced, Bosket holds every value to its own min(β, -ln p), as the paper has it. pycanon's figure takes the largest gain of
    # any value and the largest -ln p of any other: it is never more than the basic one, and says nothing about each value.
    shares = frame["occupation"].value_counts(normalize=True)
    assert anonymity.enhanced_beta_likeness(frame, QUASI, ["occupation"]) <= ours + FAR
    for _, group in frame.groupby(QUASI):
        for value, share in group["occupation"].value_counts(normalize=True).items():
            own = shares[value]
            assert (share - own) / own <= min(2, -math.log(own)) + FAR


def test_a_distance_beyond_t_has_a_witness_with_both_shares(adult: pd.DataFrame) -> None:
    secrets = {"occupation": {"role": "sensitive"}}
    pub = bk.anonymize(adult, policy(secrets, model="t-closeness", t=0.3))
    verdict = bk.verify(pub, policy(secrets, model="t-closeness", t=0.05))
    assert not verdict
    assert verdict.witness is not None
    named = verdict.witness["sensitive"]
    assert named["path"] == "occupation" and named["share"] > named["in_all"] > 0
    assert 0.05 < named["distance"] <= 0.3


def test_sweeps_take_t(adult: pd.DataFrame) -> None:
    rows = bk.sweep(adult.head(400), policy({"occupation": {"role": "sensitive"}}, model="t-closeness", t=0.3), t=[0.5, 0.3])
    assert len(rows.to_dict()) == 2
