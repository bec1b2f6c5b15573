//! What the records of all partitions look like once they are recoded: classes and attributes, and which of them are text.

use std::collections::BTreeSet;

use bosket_io::parquet::Columns;
use bosket_io::parquet::parts::PartSheet;
use bosket_measure::kept::Kept;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::partition::{Joined, Survey};
use bosket_model::{Dataset, Result};

const WHAT: [u8; 4] = *b"BkSh";
const VERSION: u8 = 1;

/// The shape of published records.
#[derive(Clone, Debug)]
pub struct Shape {
    /// A dataset without records and values.
    frame: Dataset,
    /// Paths of columns that must be text.
    spelled: BTreeSet<String>,
    /// How many records were looked at.
    pub records: u64,
    /// What they lost, to be added up.
    pub lost: f64,
    /// What of them is kept.
    pub kept: Kept,
    /// Their quasi values.
    pub survey: Survey,
}

impl Default for Shape {
    fn default() -> Self {
        let frame = Joined::new().finish();
        let (kept, survey) = (Kept::default(), Survey::default());
        Shape { frame, spelled: BTreeSet::new(), records: 0, lost: 0.0, kept, survey }
    }
}

impl Shape {
    /// Looks at some published records, whose source had these columns.
    pub fn of(published: &Dataset, columns: &Columns, lost: f64) -> Result<Self> {
        let mut joined = Joined::new();
        joined.add_values(published, |_| false);
        let mut sheet = PartSheet::new(published, columns)?;
        sheet.fit(published);
        let spelled = sheet.spelled().into_iter().collect();
        let (frame, records) = (joined.finish(), published.len() as u64);
        Ok(Shape { frame, spelled, records, lost, ..Shape::default() })
    }

    /// The same with what of them is kept, and their quasi values.
    #[must_use]
    pub fn telling(self, kept: Kept, survey: Survey) -> Self {
        Shape { kept, survey, ..self }
    }

    /// Classes and attributes of all published records.
    pub(super) fn frame(&self) -> &Dataset {
        &self.frame
    }

    /// Both together.
    pub fn merge(mut self, other: &Shape) -> Self {
        if self.records == 0 {
            return other.clone();
        }
        let mut joined = Joined::over(&self.frame);
        joined.add_values(&other.frame, |_| false);
        self.frame = joined.finish();
        self.spelled.extend(other.spelled.iter().cloned());
        self.records += other.records;
        self.lost += other.lost;
        self.kept = std::mem::take(&mut self.kept).merge(other.kept.clone());
        self.survey = std::mem::take(&mut self.survey).merge(&other.survey);
        self
    }

    /// The columns of all parts, which whoever writes one needs.
    pub fn sheet(&self, columns: &Columns) -> Result<PartSheet> {
        let mut sheet = PartSheet::new(&self.frame, columns)?;
        sheet.spell(&self.spelled.iter().cloned().collect::<Vec<_>>());
        Ok(sheet)
    }

    /// The texts of published records, which sort as the records of a publication do.
    pub fn texts(
        &self,
        published: &Dataset,
        columns: &Columns,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<u8>>> {
        let mut joined = Joined::over(&self.frame);
        joined.add(published, |_| true, |_| true, observer)?;
        let data = joined.finish();
        let mut sheet = PartSheet::new(&data, columns)?;
        let mut texts = Vec::with_capacity(data.len());
        sheet.texts(&data, &mut |text| {
            texts.push(text.to_vec());
            Ok(())
        })?;
        Ok(texts)
    }

    /// The shape as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.bytes(&self.frame.to_bytes());
        out.length(self.spelled.len());
        self.spelled.iter().for_each(|path| out.text(path));
        out.number(self.records);
        out.number(self.lost.to_bits());
        out.text(&self.kept.to_state().to_string());
        out.bytes(&self.survey.to_bytes());
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let frame = Dataset::from_bytes(from.bytes()?)?;
        let spelled = (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        let (records, lost) = (from.number()?, f64::from_bits(from.number()?));
        let kept = Kept::from_state(&super::cells::parsed(from.text()?)?)?;
        let survey = Survey::from_bytes(from.bytes()?)?;
        from.end()?;
        Ok(Shape { frame, spelled, records, lost, kept, survey })
    }
}
