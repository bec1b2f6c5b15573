//! What came out of a run, for whoever asked for it.

use std::path::PathBuf;

use bosket_measure::attack::Beyond;
use bosket_measure::kept::Kept;
use bosket_measure::loss::Loss;
use bosket_report::advice::Advice;
use bosket_verify::{Claim, Verification};
use serde_json::{Value, json};

use crate::figures::{Figures, degrees_json};
use crate::joint::Jointly;

/// A publication that is in its place.
#[derive(Debug)]
pub struct Release {
    /// Where it is.
    pub target: PathBuf,
    /// What messages call that place.
    pub name: String,
    /// Published records.
    pub records: usize,
    /// How many people `source.where` and `source.sample` left; none where neither is given.
    pub selected: Option<usize>,
    /// What the verifier found when it read the publication again; none where nothing is claimed.
    pub verification: Option<Verification>,
    /// What the run tells about itself.
    pub figures: Figures,
    /// Per quasi attribute how many values there were and are; empty for dissected data, where they are the same.
    pub attributes: Vec<AttributeValues>,
    /// The search was cut short by its time or by whoever waited; the promise is kept all the same.
    pub cut_short: bool,
    /// How many rows and values are published of how many, sensitive ones too.
    pub kept: Kept,
    /// What was lost, if that was to be measured.
    pub loss: Option<Loss>,
    /// What to do where little is left; none where enough is.
    pub advice: Option<Advice>,
    /// What one value more than promised would tell, where that is much.
    pub beyond: Option<Beyond>,
    /// What it tells together with earlier releases; none where there is none.
    pub joint: Option<Jointly>,
    /// What was found about the values that labels hide, in words; none where the policy does not bound it.
    pub guess: Option<String>,
    /// Where the certificate is; none with a stream.
    pub certificate: Option<PathBuf>,
    /// Where the report is, if the policy asks for one.
    pub report: Option<PathBuf>,
}

/// How many different values an attribute has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeValues {
    /// Its path.
    pub path: String,
    /// In the input.
    pub values: usize,
    /// In the publication.
    pub published: usize,
}

impl Release {
    /// What is promised.
    pub fn claim(&self) -> Option<&Claim> {
        self.verification.as_ref()?.claim.as_ref()
    }

    /// The release for programs.
    pub fn to_json(&self) -> Value {
        let claim = self.claim().map_or(Value::Null, Claim::to_json);
        let certificate = self.certificate.as_ref().map(|place| place.display().to_string());
        let target = self.target.display().to_string();
        if let Figures::Dissected(f) = &self.figures {
            return json!({
                "published": target,
                "records": self.records,
                "groups": f.groups,
                "sensitive_values": f.sensitive_values,
                "suppressed": f.suppressed,
                "telling_groups": f.telling_groups,
                "claim": claim,
                "verified": self.claim().is_some(),
                "certificate": certificate,
                "degrees": degrees_json(&f.degrees),
                "kept": self.kept.to_json(),
                "selected": self.selected,
            });
        }
        let mut all = json!({
            "published": target,
            "records": self.records,
            "claim": claim,
            "verified": true,
            "certificate": certificate,
            "cut_short": self.cut_short,
        });
        if let (Value::Object(all), Value::Object(figures)) = (&mut all, self.figures.to_json()) {
            all.extend(figures);
        }
        let attribute = |a: &AttributeValues| json!({"path": a.path, "values": a.values, "published_values": a.published});
        all["attributes"] = self.attributes.iter().map(attribute).collect();
        all["kept"] = self.kept.to_json();
        all["selected"] = json!(self.selected);
        all["beyond"] = self.beyond.as_ref().map_or(Value::Null, Beyond::to_json);
        all["advice"] = self.advice.as_ref().map_or(Value::Null, Advice::to_json);
        if let Some(joint) = &self.joint {
            all["joint"] = joint.to_json();
        }
        if let Some(guess) = &self.guess {
            all["guess"] = json!(guess);
        }
        if let Some(loss) = &self.loss {
            all["loss"] = loss.to_json();
        }
        all
    }
}
