"""Every function of the package, and how results show themselves."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import bosket as bk
from conftest import policy, table


def test_a_look_and_its_draft() -> None:
    look = bk.inspect(table())
    assert repr(look) == "Look(60 records, 5 attributes)"
    roles = {a["path"]: a["role"] for a in look.attributes}
    assert roles["name"] == "identifying" and roles["visits[].codes[]"] == "quasi"
    drafted = look.draft()
    drafted.check()
    assert drafted.to_dict()["source"]["format"] == "parquet"
    assert bk.draft(table()).text == drafted.text
    # Names of people are not shown, in whatever form.
    for shown in (look._repr_html_(), json.dumps(look.to_dict()), drafted.text):
        assert "Person 1" not in shown


def test_a_policy_says_where_it_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(bk.PolicyError) as raised:
        bk.Policy("version = 1\n[privacy]\nmodel = 'kmnn'\n").check()
    found = raised.value.diagnostics[0]
    assert (found.line, found.severity) == (3, "error") and found.column and "kmnn" in str(raised.value)
    (tmp_path / "p.toml").write_text(policy().text, "utf-8")
    assert repr(bk.Policy.load(tmp_path / "p.toml")) == "Policy(model='kmn', k=2, m=2, n=1, 5 attributes)"
    with pytest.raises(bk.BosketError):
        bk.Policy.load(tmp_path / "absent.toml")
    with pytest.raises(TypeError):
        bk.Policy("version = 1", k=2)


def test_a_policy_is_checked_with_data() -> None:
    policy().check(table())
    with pytest.raises(bk.Unreachable):
        policy(model="kmn", k=61, m=2, n=1).check(table())
    with pytest.raises(bk.BosketError, match="shoe"):
        policy().check(table().append_column("shoe", pa.array([1] * 60)))


def test_a_publication_and_what_goes_with_it(tmp_path: Path) -> None:
    pub = bk.anonymize(table(), policy(), measure=True)
    assert repr(pub).startswith("Publication(60 records: ")
    assert "holds" in pub._repr_html_() and "Person 1" not in pub._repr_html_()
    assert pub.to_dict()["loss"]
    assert pub.certificate["publication"]["files"][0]["name"] == "published.parquet"
    out = pub.write(tmp_path / "out.parquet")
    beside = tmp_path / "out.parquet.certificate.json"
    assert bk.verify(out, policy(), certificate=beside)
    assert bk.verify(out, certificate=beside)
    with pytest.raises(bk.EnvironmentFault, match="exists already"):
        pub.write(out)
    pub.write(out, force=True)
    pub.write(tmp_path / "out.ndjson")
    assert len((tmp_path / "out.ndjson").read_text("utf-8").splitlines()) == 60
    assert not (tmp_path / "out.ndjson.certificate.json").exists()
    report = pub.report(tmp_path / "report.html").read_text("utf-8")
    assert "The guarantee holds" in report and "Person 1" not in report


def test_verdicts() -> None:
    pub = bk.anonymize(table(), policy())
    good = bk.verify(pub, policy())
    assert good and good.sentence and good.witness is None and "HOLDS" in repr(good)
    good.require()
    bad = bk.verify(table().drop_columns(["name"]), policy())
    assert not bad and bad.witness and "VIOLATED" in repr(bad) and "Do not publish" in bad._repr_html_()
    with pytest.raises(bk.Violated) as raised:
        bad.require()
    assert raised.value.diagnostics[0].help
    assert json.dumps(bad.to_dict())


def test_every_attacker_has_a_sentence(tmp_path: Path) -> None:
    attackers = [
        {"name": "neighbour", "knows": ["born", "home.city"], "m": 1},
        {"name": "colleague", "m": 2, "n": 1},
    ]
    told = policy(model="kmn", k=2, attacker=attackers)
    assert repr(told) == "Policy(model='kmn', k=2, attackers=['neighbour', 'colleague'], 5 attributes)"
    pub = bk.anonymize(table(), told)
    neighbour, colleague, missing = pub.sentences
    assert neighbour.startswith("a neighbour, who knows born and home.city and one more value, finds at least 2 people")
    assert colleague.startswith("a colleague, who knows up to 2 values and one relation between them")
    assert "missing" in missing and pub.sentence == "; ".join(pub.sentences)
    verdict = bk.verify(pub, told)
    assert verdict and verdict.sentences == pub.sentences
    raw = bk.verify(table().drop_columns(["name"]), told)
    assert not raw and raw.witness and raw.witness["attacker"] == "neighbour"
    # Without attackers there is one sentence.
    assert bk.verify(pub, policy()).sentences == [bk.verify(pub, policy()).sentence]


def test_attack_measure_and_sweep() -> None:
    frame = pl.from_arrow(table())
    pub = bk.anonymize(frame, policy())
    attack = bk.attack(frame, pub, policy(), m=[1, 2])
    assert attack.after is not None and attack.after["data"] == "published.parquet" and "<table>" in attack._repr_html_()
    assert bk.attack(frame, None, policy(), m=[1]).after is None
    assert bk.attack(frame, pub.to_polars(), policy(), m=[1]).after is not None
    loss = bk.measure(frame, pub, policy())
    assert loss.figures["NCP"] > 0 and "NCP=" in repr(loss) and json.dumps(loss.to_dict()) and "<table>" in loss._repr_html_()
    sweep = bk.sweep(frame, policy(), k=[2, 5, 100])
    assert repr(sweep) == "Sweep(3 settings, 2 reached)"
    assert [row["reached"] for row in sweep] == [True, True, False]
    assert len(sweep.to_dict()) == len(sweep) == 3 and "<table>" in sweep._repr_html_()


def test_threads_do_not_change_a_byte(tmp_path: Path) -> None:
    outs = [bk.anonymize(table(), policy(), threads=n).write(tmp_path / f"{n}.parquet") for n in (1, 2)]
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", None)
    pub = bk.anonymize(table(), policy())
    assert list(tmp_path.iterdir())
    with pytest.raises(bk.Unreachable):
        bk.anonymize(table(), policy(model="kmn", k=100, m=2, n=1))
    assert len(list(tmp_path.iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del pub
    assert not list(tmp_path.iterdir())
