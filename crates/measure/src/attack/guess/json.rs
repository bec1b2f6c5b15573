//! What labels give away, for programs.

use serde_json::{Value, json};

use super::{AttributeGuess, Certain, Compared, Guessed, Questions, Rate, Restored, TellingLabel};

impl Guessed {
    /// As JSON; hidden values stand in it only if asked for.
    pub fn to_json(&self, show_values: bool) -> Value {
        let label = |label: &TellingLabel| label.to_json(show_values);
        json!({
            "records": self.records,
            "generalized": self.sum(|own| own.generalized),
            "half": Certain {
                told: self.sum(|own| own.half.told),
                common: self.sum(|own| own.half.common),
            }.to_json(),
            "nine_tenths": Certain {
                told: self.sum(|own| own.nine_tenths.told),
                common: self.sum(|own| own.nine_tenths.common),
            }.to_json(),
            "attacked": self.sum(|own| own.attacked),
            "restored": self.restored.to_json(),
            "sure": self.sure.to_json(),
            "by_frequency": self.by_frequency.to_json(),
            "attributes": self.attributes.iter().map(|own| own.to_json(show_values)).collect::<Vec<_>>(),
            "labels": self.labels.iter().map(label).collect::<Vec<_>>(),
        })
    }
}

impl AttributeGuess {
    fn to_json(&self, show_values: bool) -> Value {
        json!({
            "path": self.path,
            "cells": self.cells,
            "generalized": self.generalized,
            "half": self.half.to_json(),
            "nine_tenths": self.nine_tenths.to_json(),
            "largest": self.largest.as_ref().map(|label| label.to_json(show_values)),
            "attacked": self.attacked,
            "restored": self.restored.to_json(),
            "sure": self.sure.to_json(),
            "by_frequency": self.by_frequency.to_json(),
        })
    }
}

impl Certain {
    fn to_json(self) -> Value {
        json!({"told": self.told, "common": self.common})
    }
}

impl Restored {
    fn to_json(self) -> Value {
        json!({"cells": self.cells, "right": self.right})
    }
}

impl TellingLabel {
    fn to_json(&self, show_values: bool) -> Value {
        let mut label = json!({
            "path": self.path,
            "label": self.label,
            "cells": self.cells,
            "hiding": self.hiding,
            "share": self.share(),
            "common": self.common,
        });
        if show_values {
            label["value"] = json!(self.value);
        }
        label
    }
}

impl Questions {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let inferred = |(path, compared): &(String, Compared)| {
            let mut own = compared.to_json();
            own["path"] = json!(path);
            own
        };
        json!({
            "singled_out": self.singled_out.to_json(),
            "linked": self.linked.to_json(),
            "inferred": self.inferred.iter().map(inferred).collect::<Vec<_>>(),
        })
    }
}

impl Compared {
    fn to_json(self) -> Value {
        let (risk, low, high) = self.risk();
        json!({
            "people": self.people.to_json(),
            "control": self.control.to_json(),
            "risk": {"value": risk, "low": low, "high": high},
        })
    }
}

impl Rate {
    fn to_json(self) -> Value {
        json!({"tries": self.tries, "hits": self.hits})
    }
}
