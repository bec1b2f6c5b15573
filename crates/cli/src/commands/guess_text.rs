//! What `bosket attack --guess` tells people.

use bosket_app::guess::GuessedOf;
use bosket_measure::attack::guess::{
    AttributeGuess, Compared, Guessed, Questions, Rate, Restored, TellingLabel,
};

use crate::output::{count, plural, tenths};
use crate::table::{Column, Table};

/// Everything that was found, with so many labels.
pub fn report(of: &GuessedOf, labels: usize, show_values: bool) -> String {
    let found = &of.found;
    let all = found.sum(|own| own.generalized);
    let mut out = format!(
        "what the labels of {} give away: {}, {} published as something more general\n",
        of.name,
        plural(found.records, "record"),
        plural(all as usize, "value"),
    );
    if all > 0 {
        by_label(&mut out, found);
        listed(&mut out, &found.labels, labels, show_values);
        restored(&mut out, found);
    }
    of.questions.iter().for_each(|questions| asked(&mut out, questions));
    out
}

fn percent(share: f64) -> String {
    format!("{:.1} %", tenths(100.0 * share))
}

fn number(cells: u64) -> String {
    count(cells as usize)
}

/// The attributes of which something is generalized, and all of them together where there are several.
fn rows(found: &Guessed, row: impl Fn(&AttributeGuess) -> Vec<String>, all: Vec<String>) -> Vec<Vec<String>> {
    let own: Vec<&AttributeGuess> = found.attributes.iter().filter(|own| own.generalized > 0).collect();
    let mut rows: Vec<Vec<String>> = own.iter().map(|own| row(own)).collect();
    rows.extend((own.len() > 1).then_some(all));
    rows
}

fn tabled(out: &mut String, columns: &[&str], rows: Vec<Vec<String>>) {
    let numbers = columns.iter().map(|title| Column::right(title));
    let mut table = Table::new([Column::left("attribute")].into_iter().chain(numbers).collect());
    rows.into_iter().for_each(|row| table.row(row));
    out.push_str(&table.text());
}

fn by_label(out: &mut String, found: &Guessed) {
    out.push_str("\nValues that their label gives away, more surely than how common they are below it:\n\n");
    let largest = |own: &AttributeGuess| {
        own.largest.as_ref().map_or("–".to_owned(), |label| {
            format!("{} of {} ({})", number(label.hiding), number(label.cells), percent(label.share()))
        })
    };
    let row = |own: &AttributeGuess| {
        let cells = [own.generalized, own.half.told, own.nine_tenths.told].map(number);
        [own.path.clone()].into_iter().chain(cells).chain([largest(own)]).collect()
    };
    let sums = [
        found.sum(|own| own.generalized),
        found.sum(|own| own.half.told),
        found.sum(|own| own.nine_tenths.told),
    ];
    let all = ["all".to_owned()].into_iter().chain(sums.map(number)).chain(["–".to_owned()]).collect();
    tabled(out, &["generalized", "by ≥ 50 %", "by ≥ 90 %", "largest share"], rows(found, row, all));
    let common = found.sum(|own| own.half.common);
    if common > 0 {
        out.push_str(&format!(
            "besides, {} of which one value is so common below the label that its share is 50 % or more anyway\n",
            plural(common as usize, "value")
        ));
    }
}

fn listed(out: &mut String, labels: &[TellingLabel], most: usize, show_values: bool) {
    if labels.is_empty() || most == 0 {
        return;
    }
    out.push_str("\nLabels that tell most:\n\n");
    let columns = ["cells", "hide one value", "share", "of all below"].map(Column::right);
    let mut columns: Vec<Column> = [Column::left("label")].into_iter().chain(columns).collect();
    columns.extend(show_values.then(|| Column::left("value")));
    let mut table = Table::new(columns);
    for label in labels.iter().take(most) {
        let mut row = vec![
            format!("{} of {}", label.label, label.path),
            number(label.cells),
            number(label.hiding),
            percent(label.share()),
            percent(label.common),
        ];
        row.extend(show_values.then(|| label.value.clone().unwrap_or_else(|| "(nothing)".to_owned())));
        table.row(row);
    }
    out.push_str(&table.text());
    if labels.len() > most {
        out.push_str(&format!("and {} more\n", count(labels.len() - most)));
    }
    if !show_values {
        out.push_str("(values with --show-values)\n");
    }
}

fn restored(out: &mut String, found: &Guessed) {
    out.push_str("\nValues that somebody restores who has only the publication, nine in ten right:\n\n");
    let told = |of: Restored| {
        let precision = of.precision().map_or(String::new(), |share| format!(" ({} right)", percent(share)));
        format!("{}{precision}", number(of.cells))
    };
    let row = |own: &AttributeGuess| {
        let figures = [told(own.restored), told(own.sure), number(own.by_frequency.cells)];
        [own.path.clone(), number(own.attacked)].into_iter().chain(figures).collect()
    };
    let all = vec![
        "all".to_owned(),
        number(found.sum(|own| own.attacked)),
        told(found.restored),
        told(found.sure),
        number(found.by_frequency.cells),
    ];
    tabled(out, &["attacked", "restored", "sure by 90 %", "by frequency alone"], rows(found, row, all));
    out.push_str(
        "\nrestored: the most, taken in the order of the attacker's certainty, of which nine in ten are right;\n\
         of all attributes each by itself or all together, whichever is more;\n\
         sure: those of which the attacker says to be sure by 90 %, and how many of them are right;\n\
         by frequency alone: what is restored by always saying the commonest value below a label.\n",
    );
}

fn asked(out: &mut String, questions: &Questions) {
    out.push_str(
        "\nThe three questions of WP 216, tried on people of the publication and on the control group:\n\n",
    );
    let columns = ["published", "control group", "risk", "95 %"].map(Column::right);
    let mut table = Table::new([Column::left("attack")].into_iter().chain(columns).collect());
    let mut row = |name: String, compared: &Compared| {
        let rate = |rate: Rate| format!("{} of {}", number(rate.hits), number(rate.tries));
        let (risk, low, high) = compared.risk();
        let within = format!("{}–{}", percent(low), percent(high));
        table.row([name, rate(compared.people), rate(compared.control), percent(risk), within]);
    };
    row("Singling out by three attributes".to_owned(), &questions.singled_out);
    row("Linking two parts of a record".to_owned(), &questions.linked);
    questions
        .inferred
        .iter()
        .for_each(|(path, compared)| row(format!("Inferring {path} from the others"), compared));
    out.push_str(&table.text());
    out.push_str(
        "\nsingling out: exactly one record fits; linking: exactly one fits both halves of the person's attributes; inferring: the\n\
         commonest value among the records that fit the others best is one of the person's;\n\
         risk: how much more often the attack hits people of the publication than the control group, as a share of what\n\
         is left to gain.\n",
    );
}
