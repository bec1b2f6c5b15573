//! Data and worked examples that lie beside the repository, where they do.

use std::path::{Path, PathBuf};

/// A file or folder below `shared/` beside the repository; says so and gives none where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    eprintln!("skipped: shared/{path} is not beside the repository");
    None
}

/// The text of such a file.
pub fn shared_text(path: &str) -> Option<String> {
    shared(path).map(|p| std::fs::read_to_string(p).expect("a readable file"))
}

/// Such a JSON file.
pub fn shared_json(path: &str) -> Option<serde_json::Value> {
    shared_text(path).map(|text| serde_json::from_str(&text).expect("valid JSON"))
}
