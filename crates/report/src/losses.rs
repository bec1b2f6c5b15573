//! Pictures of what publications lost.

use bosket_measure::loss::{AttributeChange, Loss};

use crate::plot::{Axis, Chart, Series};

/// The loss of each attribute.
pub fn by_attribute(loss: &Loss) -> Chart {
    let names: Vec<&str> = loss.attributes.iter().map(|a| a.path.as_str()).collect();
    let over = |of: fn(&AttributeChange) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = (0u32..).zip(&loss.attributes);
        points.filter_map(|(i, a)| Some((f64::from(i), of(a)?))).collect()
    };
    Chart {
        title: "What became of each attribute".to_owned(),
        x: Axis::named("attribute", &names),
        y: Axis::linear("share of its values"),
        series: vec![
            Series { name: "as they were".to_owned(), points: over(|a| a.kept) },
            Series { name: "more general".to_owned(), points: over(|a| a.generalized) },
            Series { name: "not published".to_owned(), points: over(|a| a.left_out) },
            Series { name: "loss".to_owned(), points: over(|a| a.loss) },
        ],
    }
}

/// The figure that several losses are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yardstick {
    /// What it is called.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub about: &'static str,
    own: bool,
}

impl Yardstick {
    /// The models' own first figure where they have the same; else one that means the same for all of them.
    pub fn new<'a>(losses: impl IntoIterator<Item = &'a Loss>) -> Self {
        let mut firsts = losses.into_iter().filter_map(|loss| loss.figures.first());
        match firsts.next() {
            Some(first) if firsts.all(|figure| figure.name == first.name) => {
                Yardstick { name: first.name, about: first.about, own: true }
            }
            _ => Yardstick {
                name: "detail lost",
                about: "share of the detail of quasi values that is lost, from 0 (as they were) to 1 (not published)",
                own: false,
            },
        }
    }

    /// Its value.
    pub fn of(&self, loss: &Loss) -> Option<f64> {
        if self.own { loss.figures.first()?.value } else { loss.detail() }
    }
}

/// The main loss of several settings, over the key that varies fastest, a line per setting of the others.
pub fn by_setting(settings: &[(&[(String, String)], &Loss)], fastest: &str) -> Chart {
    // Algorithms are names, not amounts.
    let mut names: Vec<&str> = settings.iter().filter_map(|(s, _)| Some(s.last()?.1.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    let amounts = names.iter().all(|name| name.parse::<f64>().is_ok());
    let across = |value: &str| match value.parse::<f64>() {
        Ok(amount) if amounts => amount,
        _ => names.iter().position(|n| *n == value).unwrap_or(0) as f64,
    };
    let mut series: Vec<Series> = Vec::new();
    let yardstick = Yardstick::new(settings.iter().map(|(_, loss)| *loss));
    let main = yardstick.name;
    for (setting, loss) in settings {
        let Some((last, others)) = setting.split_last() else { continue };
        let Some(y) = yardstick.of(loss) else { continue };
        let name = if others.is_empty() { main.to_owned() } else { in_words(others) };
        let point = (across(&last.1), y);
        match series.iter_mut().find(|s| s.name == name) {
            Some(line) => line.points.push(point),
            None => series.push(Series { name, points: vec![point] }),
        }
    }
    for line in &mut series {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let key = fastest.rsplit('.').next().unwrap_or(fastest);
    Chart {
        title: format!("{main} over {key}"),
        x: if amounts { Axis::linear(key) } else { Axis::named(key, &names) },
        y: Axis::linear(main),
        series,
    }
}

/// A setting as people read it: `k = 5, m = 2`.
pub fn in_words(setting: &[(String, String)]) -> String {
    let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    setting.iter().map(|(key, value)| format!("{} = {value}", name(key))).collect::<Vec<_>>().join(", ")
}
