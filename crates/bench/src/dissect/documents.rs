//! PubMed, unpacked, with policies over it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bosket_engine::dissect::{Params, Release, Sensitive, run};
use bosket_io::apart::{Dissection, Drafts, People};
use bosket_io::{Create, Input, PolicyFile, Whereabouts, hierarchies};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Model, Policy};
use bosket_model::sides::Fates;
use bosket_testkit::shared::shared;
use tempfile::TempDir;

/// Quasi attributes, the first ones being used where fewer are asked for.
pub(crate) const QUASI: [&str; 5] = [
    "MedlineCitation/Article/Journal/JournalIssue/PubDate/Year",
    "MedlineCitation/Article/Language[]",
    "MedlineCitation/Article/AuthorList/Author[]/LastName",
    "MedlineCitation/Article/AuthorList/Author[]/ForeName",
    "MedlineCitation/Article/AuthorList/Author[]/AffiliationInfo[]/Affiliation",
];

/// The journal: no more than one in fifty articles are in the same one.
const SENSITIVE: &str = "MedlineCitation/MedlineJournalInfo/NlmUniqueID";

pub(crate) struct Pubmed {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

impl Pubmed {
    pub(crate) fn unpack() -> Option<Self> {
        let packed = shared("data/xml-pubmed/pubmed20n0014.xml.gz")?;
        let text = Input::open(&packed).and_then(|mut i| i.read_all()).expect("readable");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("pubmed.xml");
        std::fs::write(&path, &text).expect("room");
        Some(Pubmed { folder, path, bytes: text.len() as u64 })
    }

    /// The same articles over and over, up to a size.
    pub(crate) fn grown(&self, bytes: u64) -> PathBuf {
        let text = std::fs::read_to_string(&self.path).expect("readable");
        let start = text.find("<PubmedArticle>").expect("articles");
        let end = text.rfind("</PubmedArticleSet>").expect("a root");
        let path = self.folder.path().join("grown.xml");
        let mut out = BufWriter::new(File::create(&path).expect("room"));
        out.write_all(&text.as_bytes()[..start]).expect("room");
        for _ in 0..bytes.div_ceil((end - start) as u64) {
            out.write_all(&text.as_bytes()[start..end]).expect("room");
        }
        out.write_all(&text.as_bytes()[end..]).expect("room");
        path
    }
}

/// A policy over a document of PubMed.
pub(crate) fn policy(path: &Path, model: Model, quasi: usize, group_size: Option<usize>) -> PolicyFile {
    let quasi: String = QUASI[..quasi]
        .iter()
        .map(|path| format!("[[attribute]]\npath = '{path}'\nrole = \"quasi\"\n"))
        .collect();
    let size = group_size.map_or(String::new(), |n| format!("group_size = {n}\n"));
    let text = format!(
        "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"xml\"\npath = '{}'\n\
         record = \"PubmedArticleSet/PubmedArticle\"\n{quasi}\
         [[attribute]]\npath = '{SENSITIVE}'\nrole = \"sensitive\"\n\
         hierarchy = {{ build = \"fanout\", fanout = 5 }}\n\
         [privacy]\nmodel = \"{model}\"\n{size}[publish]\npath = \"out.xml\"\n",
        path.display()
    );
    let (policy, _) = Policy::parse("pubmed", &text, &[]).unwrap_or_else(|d| panic!("{d:?}"));
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    PolicyFile { policy, folder, warnings: Vec::new(), frames: None }
}

/// Reads, groups and writes, without putting the publication anywhere.
pub(crate) fn dissect(file: &PolicyFile) -> (Drafts, Option<Release>) {
    let dissection = Dissection::new(file, Fates::new).expect("a good policy");
    let place = Whereabouts::input(file).expect("a source");
    let params = Params::new(&file.policy).expect("possible");
    if file.policy.need_privacy().expect("a model").model == Model::None {
        return (dissection.plain(&place, params.group_size).expect("readable").0, None);
    }
    let mut people = dissection.read(place, &Quiet).expect("readable");
    let release = group(file, &people, &params);
    let groups = (release.group_of.as_slice(), release.groups);
    let drafts = dissection.write(&mut people, groups, Create::default()).expect("writable");
    (drafts, Some(release))
}

pub(crate) fn group(file: &PolicyFile, people: &People, params: &Params) -> Release {
    let spool = &people.spool;
    let (hierarchies, _) =
        hierarchies::of_sensitive(file, &spool.sensitive, "data", false).expect("hierarchies");
    let sensitive: Vec<Sensitive<'_>> = (spool.sensitive.iter())
        .map(|values| Sensitive { values, hierarchy: hierarchies[values.declared].as_ref() })
        .collect();
    run(spool.len(), &sensitive, &spool.ties, params, &Quiet).expect("reachable")
}

/// Separates the sides without ordering them: what the stream itself costs.
pub(crate) fn unsorted(file: &PolicyFile) -> u64 {
    let dissection = Dissection::new(file, Fates::new).expect("a good policy");
    dissection.unsorted(&Whereabouts::input(file).expect("a source")).expect("readable").people
}
