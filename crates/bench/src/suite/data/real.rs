//! Data that lies beside the repository. WebView is read where it is and never copied.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bosket_io::Input;
use serde_json::{Value, json};

use super::{Datasets, at, balanced, beside, sets};

/// Quasi paths of PubMed, the first ones being used where fewer are asked for.
pub(in crate::suite) const QUASI: [&str; 5] = [
    "MedlineCitation/Article/Journal/JournalIssue/PubDate/Year",
    "MedlineCitation/Article/Language[]",
    "MedlineCitation/Article/AuthorList/Author[]/LastName",
    "MedlineCitation/Article/AuthorList/Author[]/ForeName",
    "MedlineCitation/Article/AuthorList/Author[]/AffiliationInfo[]/Affiliation",
];

/// The journal: no more than one in fifty articles are in the same one.
const JOURNAL: &str = "MedlineCitation/MedlineJournalInfo/NlmUniqueID";

/// The columns of UCI Adult.
const ADULT: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];

/// Lines of a table, as texts by column name.
struct Lines {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Lines {
    fn read(path: &Path) -> Result<Self, String> {
        let bytes = Input::open(path).and_then(|mut i| i.read_all()).map_err(|f| format!("{f}"))?;
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let heads = texts(reader.headers().map_err(|e| e.to_string())?);
        let rows = reader.records().map(|r| r.map(|r| texts(&r)).map_err(|e| e.to_string()));
        Ok(Lines { heads, rows: rows.collect::<Result<_, _>>()? })
    }

    fn column(&self, name: &str) -> Result<usize, String> {
        let missing = || format!("the table has no column `{name}`");
        self.heads.iter().position(|h| h == name).ok_or_else(missing)
    }
}

fn unpacked(path: &Path) -> Result<String, String> {
    let bytes = Input::open(path).and_then(|mut i| i.read_all()).map_err(|f| format!("{f}"))?;
    String::from_utf8(bytes).map_err(|e| format!("{}: {e}", path.display()))
}

impl Datasets {
    /// Clicks in a web shop, below a balanced hierarchy.
    pub(in crate::suite) fn webview(&self, number: u32, fanout: usize) -> Result<PathBuf, String> {
        let path = beside(&format!("data/bms/bms-webview-{number}.txt.gz"))?;
        self.record(&format!("WebView-{number}"), "KDD Cup 2000, Blue Martini Software", &path)?;
        let text = sets(&path.display().to_string(), &balanced(fanout));
        self.text(&format!("policies/webview-{number}-{fanout}.toml"), &text)
    }

    /// A draft of data beside the repository, by its name. A packed database is unpacked first.
    pub(in crate::suite) fn drafted(&self, name: &str, path: &str) -> Result<PathBuf, String> {
        let data = beside(&format!("data/{path}"))?;
        let data = match path.strip_suffix(".sqlite.gz") {
            None => data,
            Some(_) => {
                let bytes = Input::open(&data).and_then(|mut i| i.read_all()).map_err(|f| format!("{f}"))?;
                self.file(&format!("drafts/{name}.sqlite"), |out| out.write_all(&bytes))?
            }
        };
        if data.is_file() {
            self.record(name, path, &data)?;
        }
        self.draft(name, &data, None)
    }

    /// The groceries of the R package arules with their own hierarchy.
    pub(in crate::suite) fn groceries(&self) -> Result<PathBuf, String> {
        let path = beside("data/set-arules/groceries-baskets.txt.gz")?;
        let text = unpacked(&beside("data/set-arules/groceries-hierarchy.csv")?)?;
        self.record("groceries", "R package arules", &path)?;
        // `detergent` is an item and, two levels up, a department.
        let text: String = (text.lines())
            .map(|line| line.strip_suffix(";*").unwrap_or(line).to_owned() + " (department);*\n")
            .collect();
        self.text("policies/groceries.csv", &text)?;
        let policy = sets(&path.display().to_string(), "\"groceries.csv\"");
        self.text(
            "policies/groceries.toml",
            &policy.replace("[[attribute]]", "separator = \";\"\n[[attribute]]"),
        )
    }

    /// So many articles of PubMed, all of them over and over if there are fewer, with so many quasi paths.
    pub(in crate::suite) fn pubmed(&self, articles: usize, quasi: usize) -> Result<PathBuf, String> {
        let name = format!("PubMed-{articles}");
        let path = self.folder.join(format!("{name}.xml"));
        if !self.knows(&name) {
            let text = unpacked(&beside("data/xml-pubmed/pubmed20n0014.xml.gz")?)?;
            let (head, end) = ("<PubmedArticle>", "</PubmedArticleSet>");
            let body = text.find(head).zip(text.rfind(end)).ok_or("PubMed holds no articles")?;
            let all: Vec<&str> = text[body.0..body.1].split_inclusive("</PubmedArticle>").collect();
            let all = &all[..all.len() - usize::from(all.last().is_some_and(|a| !a.contains(head)))];
            self.file(&format!("{name}.xml"), |out| {
                out.write_all(&text.as_bytes()[..body.0])?;
                (0..articles).try_for_each(|a| out.write_all(all[a % all.len()].as_bytes()))?;
                out.write_all(end.as_bytes())
            })?;
            self.record(&name, "PubMed, pubmed20n0014.xml", &path)?;
        }
        let mut text = format!(
            "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"xml\"\npath = '{name}.xml'\n\
             record = \"PubmedArticleSet/PubmedArticle\"\n"
        );
        for path in &QUASI[..quasi] {
            // Writing to a String cannot fail.
            let _ = write!(text, "[[attribute]]\npath = '{path}'\nrole = \"quasi\"\n");
        }
        let _ = write!(
            text,
            "[[attribute]]\npath = '{JOURNAL}'\nrole = \"sensitive\"\n\
             hierarchy = {{ build = \"fanout\", fanout = 5 }}\n\
             [privacy]\nmodel = \"delta\"\ngroup_size = 10\n[publish]\npath = \"out.xml\"\n"
        );
        self.text(&format!("{name}-{quasi}.toml"), &text)
    }

    /// UCI Adult as one flat table, all columns quasi; the first rows, and all over again if there are fewer.
    pub(in crate::suite) fn adult(&self, rows: Option<usize>) -> Result<PathBuf, String> {
        let packed = beside("data/flat-adult-arx/adult.csv.gz")?;
        let name = rows.map_or("adult".to_owned(), |n| format!("adult-{n}"));
        if !self.knows(&name) {
            let text = unpacked(&packed)?;
            let (head, body) = text.split_once('\n').ok_or("Adult has no rows")?;
            let lines: Vec<&str> = body.lines().collect();
            let path = self.file(&format!("{name}/data.csv"), |out| {
                // Other tools want commas; no value holds one.
                writeln!(out, "{}", head.trim_end().replace(';', ","))?;
                (0..rows.unwrap_or(lines.len()))
                    .try_for_each(|row| writeln!(out, "{}", lines[row % lines.len()].replace(';', ",")))
            })?;
            self.record(&name, "UCI Adult as in ARX", &path)?;
        }
        let mut text = String::from("version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n");
        for column in ADULT {
            let own = beside(&format!("data/flat-adult-arx/hierarchies/adult_hierarchy_{column}.csv"))?;
            let to = self.folder.join(&name).join(format!("{column}.csv"));
            at(&to, std::fs::copy(&own, &to))?;
            let _ = write!(
                text,
                "[[attribute]]\npath = \"{column}\"\nrole = \"quasi\"\nhierarchy = \"{column}.csv\"\n"
            );
        }
        text.push_str("[privacy]\nmodel = \"k-anonymity\"\nk = 5\n[publish]\npath = \"published.csv\"\n");
        self.text(&format!("{name}/policy.toml"), &text)
    }

    /// Students of the Open University with their assessments and scores: the first so many who have any.
    pub(in crate::suite) fn oulad(&self, students: usize) -> Result<PathBuf, String> {
        let name = format!("oulad-{students}");
        if self.knows(&name) {
            return Ok(self.folder.join(&name).join("policy.toml"));
        }
        let people = Lines::read(&beside("data/rel-oulad/studentInfo.csv.gz")?)?;
        let taken = Lines::read(&beside("data/rel-oulad/studentAssessment.csv.gz")?)?;
        let modules = Lines::read(&beside("data/rel-oulad/assessments.csv")?)?;
        let mut takes: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let (who, which, score) =
            (taken.column("id_student")?, taken.column("id_assessment")?, taken.column("score")?);
        for row in &taken.rows {
            let score: Option<f64> = row[score].parse().ok();
            takes.entry(&row[who]).or_default().push(json!({"assessment": row[which], "score": score}));
        }
        let mut lines = String::new();
        let columns = ["gender", "region", "age_band"].map(|c| people.column(c));
        let (id, mut left) = (people.column("id_student")?, students);
        for row in &people.rows {
            // Who is enrolled twice has two rows; the first one counts.
            let Some(own) = takes.remove(row[id].as_str()).filter(|_| left > 0) else { continue };
            let [gender, region, age] = columns.clone();
            let (gender, region, age) = (&row[gender?], &row[region?], &row[age?]);
            let _ =
                writeln!(lines, "{}", json!({"gender": gender, "region": region, "age": age, "takes": own}));
            left -= 1;
        }
        let data = self.text(&format!("{name}/data.ndjson"), &lines)?;
        self.record(&name, "Open University Learning Analytics", &data)?;
        let mut tree = String::new();
        let (module, term, kind) = (
            modules.column("code_module")?,
            modules.column("code_presentation")?,
            modules.column("assessment_type")?,
        );
        let number = modules.column("id_assessment")?;
        for row in &modules.rows {
            let (m, t, k) = (&row[module], &row[term], &row[kind]);
            let _ = writeln!(tree, "{};{m} {t} {k};{m} {t};{m};*", row[number]);
        }
        self.text(&format!("{name}/assessment.csv"), &tree)?;
        let flat = |column: &str| -> Result<String, String> {
            let at = people.column(column)?;
            let mut values: Vec<&str> = people.rows.iter().map(|r| r[at].as_str()).collect();
            values.sort_unstable();
            values.dedup();
            Ok(values.iter().map(|v| format!("{v};*\n")).collect())
        };
        for (file, column) in [("gender", "gender"), ("region", "region"), ("age", "age_band")] {
            self.text(&format!("{name}/{file}.csv"), &flat(column)?)?;
        }
        let quasi = |path: &str, file: &str| {
            format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\nhierarchy = \"{file}.csv\"\n")
        };
        let policy = [
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n".to_owned(),
            quasi("gender", "gender"),
            quasi("region", "region"),
            quasi("age", "age"),
            quasi("takes[].assessment", "assessment"),
            "[[attribute]]\npath = \"takes[].score\"\nrole = \"sensitive\"\nbuckets = [0, 40, 55, 70, 85, 100]\n"
                .to_owned(),
            "[privacy]\nmodel = \"l-diversity\"\nl = 3\n[method]\nalgorithm = \"ctoff\"\n\
             [publish]\npath = \"published.ndjson\"\n"
                .to_owned(),
        ];
        self.text(&format!("{name}/policy.toml"), &policy.concat())
    }
}
