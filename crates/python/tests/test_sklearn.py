"""A model is trained on a publication, as a user would."""

from __future__ import annotations

import random

import polars as pl
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import bosket as bk
from conftest import CITIES, groups


def test_a_model_is_trained_on_a_publication() -> None:
    draw = random.Random(3)
    rows = []
    for _ in range(400):
        age, city = draw.randint(20, 79), draw.choice(CITIES)
        ill = draw.random() < (0.9 if age >= 50 else 0.1)
        rows.append({"age": age, "city": city, "ill": "yes" if ill else "no"})
    frame = pl.DataFrame(rows)
    policy = bk.Policy(model="k-anonymity", k=5, attributes={
        "age": {"role": "quasi", "hierarchy": {"build": "interval", "min": 0, "max": 100, "widths": [10, 50]}},
        "city": {"role": "quasi", "hierarchy": groups(CITIES)},
        "ill": "sensitive",
    })

    def score(data: pl.DataFrame) -> float:
        features = data.select(pl.col("age").cast(pl.String), pl.col("city").cast(pl.String)).to_dicts()
        model = make_pipeline(DictVectorizer(), LogisticRegression(max_iter=1000))
        return float(model.fit(features, data["ill"].to_list()).score(features, data["ill"].to_list()))

    published = bk.anonymize(frame, policy).to_polars()
    assert published.height == frame.height
    assert score(published) > 0.8 and score(frame) > 0.8
