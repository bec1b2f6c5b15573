//! What to tell whoever gets little: which attributes say hardly anything, what forces that, and what would help. Names
//! attributes and levels; labels only where somebody asked to see values.

use bosket_model::words::count;
use serde_json::{Value, json};

/// Advice about a publication of which little is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The figure that losses are told by.
    pub figure: &'static str,
    /// Its value now.
    pub now: Option<f64>,
    /// Attributes of which more than half of the values say nothing.
    pub attributes: Vec<LittleLeft>,
    /// What would help all of them.
    pub helps: Vec<Help>,
}

/// An attribute of which little is left.
#[derive(Clone, Debug, PartialEq)]
pub struct LittleLeft {
    /// Its path.
    pub path: String,
    /// Its values in the input.
    pub values: u64,
    /// How many of them are published as `*`, or not at all.
    pub silent: u64,
    /// What forces that.
    pub forced: Forced,
    /// What would help it.
    pub helps: Vec<Help>,
}

/// What keeps an attribute from saying more.
#[derive(Clone, Debug, PartialEq)]
pub enum Forced {
    /// Knowledge that would fit too few, were the attribute published one step finer.
    Knowledge {
        /// What would be known, the attribute itself among it.
        known: Vec<Known>,
        /// Which of it is known to be above which.
        related: bool,
        /// How many have to fit at least; none if a sensitive value would be told instead.
        fewest: Option<u32>,
    },
    /// Records that are made to look alike differ in it.
    Alike,
    /// One step finer breaks nothing by itself: what was chosen elsewhere does.
    Elsewhere,
    /// It was not found out, in the time or at all.
    Unknown,
}

/// A value that would be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Path of its attribute.
    pub path: String,
    /// At which level, as `(level, levels)` counted from below `*`; none for a value as it was.
    pub level: Option<(u32, u32)>,
    /// Known is that it is not there.
    pub absent: bool,
    /// The label, where somebody asked to see values.
    pub label: Option<String>,
}

/// Something that would help.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// What to do.
    pub remedy: Remedy,
    /// What would be lost then.
    pub loss: Tried,
}

/// What can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Labels of each value's own.
    Local,
    /// Attackers who know fewer values.
    KnownValues(u32),
    /// Fewer who look alike.
    Fewest(u32),
    /// One quasi attribute less.
    Without(String),
    /// A level between `*` and so many labels below it.
    LevelBetween(usize),
}

/// What came of trying a remedy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tried {
    /// So much would be lost.
    Loss(f64),
    /// There was no time to find out.
    NotInTime,
    /// It was not tried.
    Not,
}

impl Remedy {
    fn text(&self) -> String {
        match self {
            Remedy::Local => "recoding = \"local\"".to_owned(),
            Remedy::KnownValues(m) => format!("m = {m}"),
            Remedy::Fewest(k) => format!("k = {k}"),
            Remedy::Without(path) => format!("leaving out {path}"),
            Remedy::LevelBetween(below) => {
                format!("a hierarchy with a level between `*` and its {} labels", count(*below))
            }
        }
    }

    fn key(&self) -> (&'static str, Value) {
        match self {
            Remedy::Local => ("method.recoding", json!("local")),
            Remedy::KnownValues(m) => ("privacy.m", json!(m)),
            Remedy::Fewest(k) => ("privacy.k", json!(k)),
            Remedy::Without(path) => ("without", json!(path)),
            Remedy::LevelBetween(below) => ("level_between", json!(below)),
        }
    }
}

impl Help {
    /// Something that was not tried.
    pub fn untried(remedy: Remedy) -> Self {
        Help { remedy, loss: Tried::Not }
    }

    fn text(&self) -> String {
        let rest = if matches!(self.remedy, Remedy::Without(_)) { " of the rest" } else { "" };
        match self.loss {
            Tried::Loss(loss) => format!("{} ({}{rest})", self.remedy.text(), figure(loss)),
            // Said once is enough, and there may be many attributes.
            Tried::NotInTime if !rest.is_empty() => self.remedy.text(),
            Tried::NotInTime => format!("{} (not computed in the time)", self.remedy.text()),
            Tried::Not => self.remedy.text(),
        }
    }

    fn to_json(&self) -> Value {
        let (key, value) = self.remedy.key();
        let loss = match self.loss {
            Tried::Loss(loss) => Some(loss),
            Tried::NotInTime | Tried::Not => None,
        };
        json!({key: value, "loss": loss, "in_time": self.loss != Tried::NotInTime})
    }
}

impl Known {
    fn text(&self) -> String {
        let level = match self.level {
            None => "as it was".to_owned(),
            Some((0, _)) => "missing or as `*`".to_owned(),
            Some((level, levels)) => format!("at level {level} of {levels}"),
        };
        let absent = if self.absent { "no " } else { "" };
        let label = self.label.as_ref().map_or(String::new(), |label| format!(" {label:?}"));
        format!("{absent}{}{label} {level}", self.path)
    }
}

impl Forced {
    /// What would break, in words.
    pub fn text(&self) -> String {
        match self {
            Forced::Knowledge { known, related, fewest } => {
                let mut known: Vec<String> = known.iter().map(Known::text).collect();
                let others = known.split_off(known.len().min(1));
                known.extend((!others.is_empty()).then(|| others.join(" and ")));
                let related = if *related { " in their relation" } else { "" };
                let what = match fewest {
                    Some(fewest) => format!("would fit fewer than {fewest} records"),
                    None => "would tell a sensitive value".to_owned(),
                };
                format!("one step finer, {}{related} {what}", known.join(" with "))
            }
            Forced::Alike => "records that are made to look alike differ in it".to_owned(),
            Forced::Elsewhere => {
                "one step finer alone would do; what other attributes say cost less".to_owned()
            }
            Forced::Unknown => "what forces it was not found in the time".to_owned(),
        }
    }

    /// The same for programs; nothing where there is no knowledge to name.
    pub fn to_json(&self) -> Value {
        let Forced::Knowledge { known, related, fewest } = self else { return Value::Null };
        let known: Vec<Value> = (known.iter())
            .map(|k| {
                json!({"path": k.path, "level": k.level.map(|l| l.0), "levels": k.level.map(|l| l.1),
                       "absent": k.absent, "label": k.label})
            })
            .collect();
        json!({"known": known, "related": related, "fewer_than": fewest})
    }
}

impl Advice {
    /// The same without any label of the data.
    #[must_use]
    pub fn without_labels(&self) -> Self {
        let mut all = self.clone();
        for attribute in &mut all.attributes {
            if let Forced::Knowledge { known, .. } = &mut attribute.forced {
                known.iter_mut().for_each(|known| known.label = None);
            }
        }
        all
    }

    /// One line per attribute that says why and what helps it, and one for what helps all of them.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = (self.attributes.iter())
            .map(|a| {
                let why = a.forced.text();
                let mut line = format!(
                    "{}: {} of {} values say nothing; {why}",
                    a.path,
                    number(a.silent),
                    number(a.values)
                );
                if !a.helps.is_empty() {
                    let helps: Vec<String> = a.helps.iter().map(Help::text).collect();
                    line.push_str(&format!("; what would help it: {}", helps.join(", ")));
                }
                line
            })
            .collect();
        let now = self.now.map_or(String::new(), |now| format!(" ({}, {} now)", self.figure, figure(now)));
        if !self.helps.is_empty() {
            let helps: Vec<String> = self.helps.iter().map(Help::text).collect();
            lines.push(format!("what would help{now}: {}", helps.join(", ")));
        } else if !now.is_empty() {
            lines.push(format!("figures in brackets{now}"));
        }
        lines
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let helps = |helps: &[Help]| helps.iter().map(Help::to_json).collect::<Vec<_>>();
        let attributes: Vec<Value> = (self.attributes.iter())
            .map(|a| {
                json!({"path": a.path, "values": a.values, "silent": a.silent, "forced_by": a.forced.to_json(),
                       "helps": helps(&a.helps)})
            })
            .collect();
        json!({"figure": self.figure, "now": self.now, "attributes": attributes, "helps": helps(&self.helps)})
    }
}

fn number(n: u64) -> String {
    count(n as usize)
}

fn figure(value: f64) -> String {
    if value == 0.0 || value >= 5e-4 { format!("{value:.3}") } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice() -> Advice {
        let known = |path: &str, level| Known { path: path.to_owned(), level, absent: false, label: None };
        Advice {
            figure: "NCP",
            now: Some(0.286),
            attributes: vec![LittleLeft {
                path: "gender".to_owned(),
                values: 2000,
                silent: 1999,
                forced: Forced::Knowledge {
                    known: vec![known("gender", None), known("visits[].year", Some((1, 3)))],
                    related: true,
                    fewest: Some(5),
                },
                helps: vec![
                    Help { remedy: Remedy::Without("gender".to_owned()), loss: Tried::Loss(0.25) },
                    Help::untried(Remedy::LevelBetween(3)),
                ],
            }],
            helps: vec![
                Help { remedy: Remedy::Local, loss: Tried::Loss(0.0604) },
                Help { remedy: Remedy::KnownValues(1), loss: Tried::NotInTime },
            ],
        }
    }

    #[test]
    fn a_line_says_why_and_what_would_help() {
        let expected = [
            "gender: 1,999 of 2,000 values say nothing; one step finer, gender as it was with visits[].year at level 1 of 3 in \
             their relation would fit fewer than 5 records; what would help it: leaving out gender (0.250 of the rest), a \
             hierarchy with a level between `*` and its 3 labels",
            "what would help (NCP, 0.286 now): recoding = \"local\" (0.060), m = 1 (not computed in the time)",
        ];
        assert_eq!(advice().lines(), expected);
    }

    #[test]
    fn programs_get_the_same() {
        let told = advice().to_json();
        assert_eq!(told["helps"][0], json!({"method.recoding": "local", "loss": 0.0604, "in_time": true}));
        assert_eq!(told["helps"][1]["in_time"], false);
        assert_eq!(told["attributes"][0]["forced_by"]["known"][1]["level"], 1);
    }
}
