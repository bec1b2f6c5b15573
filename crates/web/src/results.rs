//! What commands print, as far as pages read it. Jobs hand on what fits these types and nothing else, and the types of the
//! pages are written from them: a page cannot expect what no command says.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{ApiError, Result, Told};
use crate::folder::Folder;
use crate::shape::shape;

/// How a result is read; none for commands whose result no page reads.
pub(crate) type Reader = fn(&[u8]) -> std::result::Result<Value, String>;

/// Reads what a command printed as what pages expect of it.
pub(crate) fn read<T: serde::Serialize + serde::de::DeserializeOwned>(
    bytes: &[u8],
) -> std::result::Result<Value, String> {
    let read: T = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    serde_json::to_value(read).map_err(|error| error.to_string())
}

shape! {
    result
    /// What a job says on the way; one of these at a time.
    pub(crate) struct Said {
        state: Option<String>,
        stage: Option<String>,
        share: Option<f64>,
        /// Seconds.
        left: Option<u64>,
        diagnostic: Option<Told>,
        line: Option<String>,
        row: Option<Row>,
    }
}

shape! {
    result
    pub(crate) struct Share {
        value: f64,
    }
}

shape! {
    result
    /// What somebody finds who knows so much.
    pub(crate) struct Point {
        m: Option<u32>,
        n: Option<u32>,
        unique: Share,
        below_k: Share,
        prosecutor: f64,
        marketer: f64,
    }
}

shape! {
    result
    /// What an attacker of the policy finds.
    pub(crate) struct AttackerFinds {
        /// What the policy calls them; none for somebody who knows nothing in particular.
        name: Option<String>,
        /// As in "who knows {…}".
        knows: String,
        k: u32,
        promised: Point,
        one_more: Point,
    }
}

shape! {
    result
    pub(crate) struct Risk {
        k: u32,
        points: Vec<Point>,
        attackers: Option<Vec<AttackerFinds>>,
    }
}

shape! {
    result
    pub(crate) struct Attacked {
        before: Risk,
        after: Option<Risk>,
    }
}

shape! {
    result
    pub(crate) struct LookedClass {
        path: String,
        vertices: u64,
        records: u64,
        max_per_record: u64,
    }
}

shape! {
    result
    pub(crate) struct LookedValue {
        value: String,
        count: u64,
    }
}

shape! {
    result
    pub(crate) struct LookedAttribute {
        path: String,
        r#type: String,
        distinct: u64,
        uniqueness: f64,
        records_without: f64,
        role: String,
        reason: String,
        values: Option<Vec<LookedValue>>,
    }
}

shape! {
    result
    pub(crate) struct LookedTable {
        name: String,
        parent: Option<String>,
        foreign_key: Vec<String>,
    }
}

shape! {
    result
    /// How tables belong together.
    pub(crate) struct Linked {
        guessed: bool,
        tables: Vec<LookedTable>,
        notes: Vec<String>,
    }
}

shape! {
    result
    pub(crate) struct Looked {
        format: String,
        records: u64,
        classes: Vec<LookedClass>,
        attributes: Vec<LookedAttribute>,
        linked: Option<Linked>,
        risk: Option<Attacked>,
        /// Why no risk is told.
        uncounted: Option<String>,
    }
}

shape! {
    result
    /// What one value more than promised would tell, where that is much.
    pub(crate) struct Beyond {
        sentence: String,
    }
}

shape! {
    result
    pub(crate) struct Released {
        verified: bool,
        records: u64,
        published: String,
        certificate: Option<String>,
        cut_short: Option<bool>,
        beyond: Option<Beyond>,
        /// What was found about the values that labels hide, in words.
        guess: Option<String>,
    }
}

shape! {
    result
    pub(crate) struct Figure {
        value: Option<f64>,
    }
}

shape! {
    result
    pub(crate) struct Figures {
        figures: BTreeMap<String, Figure>,
    }
}

shape! {
    result
    /// One and the same attacker for all rows.
    pub(crate) struct Attacker {
        /// How many values it knows; all if not given.
        m: Option<u32>,
        n: Option<u32>,
        /// Who it is, in words.
        sentence: String,
        /// The mean chance to pick the right person; none where it cannot be told.
        marketer: Option<f64>,
    }
}

shape! {
    result
    /// A combination that was tried.
    pub(crate) struct Row {
        setting: BTreeMap<String, Value>,
        reached: bool,
        /// Why not.
        why: Option<Vec<String>>,
        loss: Option<Figures>,
        attacker: Option<Attacker>,
    }
}

shape! {
    result
    pub(crate) struct ListedLabel {
        label: String,
        places: u64,
        splits: bool,
    }
}

shape! {
    result
    pub(crate) struct ListedAttribute {
        path: String,
        labels: Vec<ListedLabel>,
    }
}

shape! {
    result
    pub(crate) struct Listed {
        attributes: Vec<ListedAttribute>,
    }
}

shape! {
    result
    pub(crate) struct NotFiner {
        path: String,
        label: String,
        sentence: String,
        breaks: Option<bool>,
    }
}

shape! {
    result
    pub(crate) struct TreeNode {
        label: String,
        leaves: u64,
        count: Option<u64>,
        children: Option<Vec<TreeNode>>,
    }
}

shape! {
    result
    pub(crate) struct Knowledge {
        path: String,
        value: String,
        absent: Option<bool>,
        count: Option<u64>,
    }
}

shape! {
    result
    pub(crate) struct Inferred {
        path: String,
        share: f64,
    }
}

shape! {
    result
    /// The smallest knowledge that breaks a claim.
    pub(crate) struct Witness {
        values: Vec<Knowledge>,
        records: Vec<u64>,
        support: u64,
        sensitive: Option<Inferred>,
    }
}

shape! {
    result
    pub(crate) struct Signature {
        holds: bool,
        key_id: String,
        public_key: String,
        trusted_comment: Option<String>,
        signature_file: String,
        problem: Option<String>,
    }
}

shape! {
    result
    pub(crate) struct PathWithRole {
        path: String,
        role: String,
    }
}

shape! {
    result
    pub(crate) struct Shifted {
        path: String,
        days: u32,
    }
}

shape! {
    result
    /// What the claim does not protect.
    pub(crate) struct NotProtected {
        published_as_they_are: Vec<PathWithRole>,
        shifted: Vec<Shifted>,
        pseudonyms: Vec<String>,
        keys: Vec<String>,
    }
}

shape! {
    result
    pub(crate) struct CertificateChecked {
        holds: bool,
        problems: Vec<String>,
        known: Vec<String>,
        published_as_they_are: Vec<PathWithRole>,
        not_checked: Vec<String>,
    }
}

shape! {
    result
    pub(crate) struct Misplaced {
        path: String,
        reason: String,
    }
}

shape! {
    result
    pub(crate) struct Checked {
        /// Whether all that was looked at is as it should be.
        holds: bool,
        signature: Option<Signature>,
        records: Option<u64>,
        witness: Option<Witness>,
        left_over: Option<Vec<String>>,
        misplaced: Option<Vec<Misplaced>>,
        not_protected: Option<NotProtected>,
        warnings: Option<Vec<String>>,
        /// What was not looked at in a publication that another program has written again.
        not_looked_at: Option<Vec<String>>,
        /// What nobody can say without the private input or its key.
        not_checked: Option<Vec<String>>,
        certificate: Option<CertificateChecked>,
    }
}

shape! {
    result
    pub(crate) struct Claimed {
        m: Option<u32>,
        n: Option<u32>,
    }
}

shape! {
    result
    /// What was found about the values that labels hide.
    pub(crate) struct Guess {
        pub(crate) sentence: String,
        /// By what it was found.
        pub(crate) checked: String,
    }
}

shape! {
    result
    /// Of the values of an attribute: how many there were, how many are published, and how many of these say nothing.
    pub(crate) struct KeptValues {
        path: String,
        role: String,
        values: Option<u64>,
        published: Option<u64>,
        as_anything: Option<u64>,
    }
}

shape! {
    result
    pub(crate) struct Kept {
        attributes: Vec<KeptValues>,
    }
}

shape! {
    result
    /// An attribute, as the certificate has it of the policy.
    pub(crate) struct CertifiedAttribute {
        path: String,
        role: String,
        /// A file, or a rule.
        hierarchy: Option<Value>,
    }
}

shape! {
    result
    pub(crate) struct CertifiedPolicy {
        attribute: Option<Vec<CertifiedAttribute>>,
    }
}

shape! {
    result
    /// What pages show of a certificate.
    pub(crate) struct CertificateView {
        claim: Option<Claimed>,
        pub(crate) sentence: Option<String>,
        pub(crate) not_claimed: Vec<String>,
        pub(crate) records: u64,
        pub(crate) digest: String,
        pub(crate) verified: bool,
        pub(crate) guess: Option<Guess>,
        kept: Option<Kept>,
        policy: Option<CertifiedPolicy>,
    }
}

shape! {
    result
    /// A pair of keys.
    pub(crate) struct Made {
        key_id: String,
        public_key: String,
        secret_key_file: String,
        public_key_file: String,
    }
}

shape! {
    result
    pub(crate) struct Signed {
        signature_file: String,
        key_id: String,
        public_key: String,
        trusted_comment: String,
        digest: String,
    }
}

/// A certificate of the folder, as pages show it.
pub(crate) fn certificate(folder: &Folder, path: &str) -> Result<CertificateView> {
    let text = folder.read_text(&folder.find(path)?)?;
    serde_json::from_str(&text).map_err(|_| ApiError::bad(format!("`{path}` is no certificate")))
}

/// All types of this file in TypeScript.
#[cfg(test)]
pub(crate) fn declarations() -> Vec<String> {
    use crate::shape::Declared;
    macro_rules! all {
        ($($name:ident),+ $(,)?) => { vec![$($name::declaration()),+] };
    }
    all![
        Share,
        Point,
        AttackerFinds,
        Risk,
        Attacked,
        LookedClass,
        LookedValue,
        LookedAttribute,
        LookedTable,
        Linked,
        Looked,
        Beyond,
        Released,
        Figure,
        Figures,
        Attacker,
        Row,
        Said,
        ListedLabel,
        ListedAttribute,
        Listed,
        NotFiner,
        TreeNode,
        Knowledge,
        Inferred,
        Witness,
        Signature,
        PathWithRole,
        Shifted,
        NotProtected,
        CertificateChecked,
        Misplaced,
        Checked,
        Claimed,
        Guess,
        KeptValues,
        Kept,
        CertifiedAttribute,
        CertifiedPolicy,
        CertificateView,
        Made,
        Signed,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_as_it_is_has_a_path_and_a_role() {
        let printed = serde_json::json!({
            "holds": true, "records": 7, "witness": null, "left_over": [], "certificate": {
                "holds": true, "problems": [], "not_checked": [], "known": ["age"], "digest": "0",
                "published_as_they_are": [{"path": "note", "role": "insensitive"}],
            },
        });
        let found = read::<Checked>(printed.to_string().as_bytes()).expect("what `verify` prints");
        assert_eq!(found["certificate"]["published_as_they_are"][0]["path"], "note");
        assert_eq!(found["not_protected"], Value::Null);
    }

    #[test]
    fn what_does_not_fit_is_not_handed_on() {
        assert!(read::<Checked>(br#"{"holds": "yes"}"#).is_err());
        assert!(read::<Checked>(br#"{"records": 7}"#).is_err());
    }
}
