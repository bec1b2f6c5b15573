//! The type of a column whose values come one by one, in one pass after the other: the same that [`Scalar::for_codes`]
//! finds with all of them at hand.

use bosket_model::Kind;

use super::scalar::Scalar;

/// A column whose type is searched for.
#[derive(Debug)]
pub(crate) struct Fitting(Step);

#[derive(Debug)]
enum Step {
    /// Whether the type of the source holds all values.
    Known {
        scalar: Scalar,
        holds: bool,
    },
    /// Which of a few types do, and how many places decimals would need; none if they are no numbers.
    Natural {
        left: Vec<Scalar>,
        any: bool,
        places: Option<usize>,
    },
    Decimal {
        scalar: Scalar,
        holds: bool,
    },
    Found(Scalar),
}

impl Fitting {
    /// A column that has a type in its source, or none.
    pub(crate) fn new(source: Option<Scalar>) -> Self {
        match source {
            Some(scalar) if scalar.is_written() => Fitting(Step::Known { scalar, holds: true }),
            _ => Fitting(Step::natural()),
        }
    }

    /// Takes one of the values, all of which come in every pass.
    pub(crate) fn add(&mut self, kind: Kind, text: &str) {
        match &mut self.0 {
            Step::Known { scalar, holds } | Step::Decimal { scalar, holds } => {
                *holds = *holds && scalar.holds(kind, text);
            }
            Step::Natural { left, any, places } => {
                *any = true;
                left.retain(|scalar| scalar.holds(kind, text));
                let more = (kind == Kind::Number).then(|| Scalar::places(text));
                *places = places.zip(more).map(|(most, more)| most.max(more));
            }
            Step::Found(_) => {}
        }
    }

    /// Whether all values have to come once more.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.0, Step::Found(_))
    }

    /// All values have come.
    pub(crate) fn pass_done(&mut self) {
        let before = std::mem::replace(&mut self.0, Step::Found(Scalar::text()));
        self.0 = match before {
            Step::Known { holds: false, .. } => Step::natural(),
            Step::Known { scalar, .. } | Step::Decimal { scalar, holds: true } => Step::Found(scalar),
            Step::Natural { any: false, .. } | Step::Decimal { .. } => Step::Found(Scalar::text()),
            Step::Natural { left, places, .. } => match (left.into_iter().next(), places) {
                (Some(first), _) => Step::Found(first),
                (None, Some(places)) => match Scalar::decimal(places) {
                    Some(scalar) => Step::Decimal { scalar, holds: true },
                    None => Step::Found(Scalar::text()),
                },
                (None, None) => Step::Found(Scalar::text()),
            },
            found => found,
        };
    }

    /// The type; text as long as none is found.
    pub(crate) fn scalar(&self) -> Scalar {
        match &self.0 {
            Step::Found(scalar) => scalar.clone(),
            _ => Scalar::text(),
        }
    }
}

impl Step {
    fn natural() -> Self {
        Step::Natural { left: Scalar::candidates().into(), any: false, places: Some(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::Dictionary;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Vec<(Kind, String)>> {
        let numbers = prop_oneof![
            Just("0".to_owned()),
            any::<i32>().prop_map(|n| n.to_string()),
            any::<u64>().prop_map(|n| n.to_string()),
            "[1-9][0-9]{0,30}\\.[0-9]{0,9}[1-9]",
        ];
        let one = prop_oneof![
            6 => numbers.clone().prop_map(|text| (Kind::Number, text)),
            1 => numbers.prop_map(|text| (Kind::Text, text)),
            1 => any::<bool>().prop_map(|b| (Kind::Bool, b.to_string())),
            1 => "[a-z]{0,2}".prop_map(|text| (Kind::Text, text)),
        ];
        let alike = any::<bool>().prop_map(|b| vec![(Kind::Bool, b.to_string())]);
        prop_oneof![4 => prop::collection::vec(one, 0..6), 1 => alike]
    }

    proptest! {
        #[test]
        fn values_one_by_one_have_the_type_of_all_of_them(values in values(), source in 0..5usize) {
            let source = Scalar::candidates().into_iter().chain([Scalar::text()]).nth(source);
            for source in [source, None] {
                let mut dictionary = Dictionary::default();
                let codes: Vec<u32> = values.iter().map(|(kind, text)| dictionary.intern(*kind, text)).collect();
                let mut fitting = Fitting::new(source.clone());
                let mut passes = 0;
                while fitting.is_open() {
                    values.iter().rev().for_each(|(kind, text)| fitting.add(*kind, text));
                    fitting.pass_done();
                    passes += 1;
                }
                prop_assert!(passes <= 3);
                prop_assert_eq!(fitting.scalar(), Scalar::for_codes(source, &dictionary, &codes));
            }
        }
    }
}
