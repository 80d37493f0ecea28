//! The rules of a campaign, stored in its file, so that they are available even if their folder is missing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::OptionalExtension as _;
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};

use super::checksum::sum;
use super::error::StoreError;
use super::file::StoreFile;
use super::writer::FileWriter;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{ContentHash, Library};

/// One version of the files of a ruleset with its layers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Generation {
    pub ruleset: String,
    pub version: String,
    pub layers: Vec<String>,
    /// Hashes of contents by path.
    files: BTreeMap<String, String>,
}

/// Contents by path.
pub type Files = BTreeMap<Arc<str>, Arc<str>>;

impl Generation {
    /// The name of the ruleset with its layers.
    pub fn name(&self) -> String {
        std::iter::once(&self.ruleset).chain(&self.layers).map(String::as_str).collect::<Vec<_>>().join("+")
    }

    /// The hashes of its files, by path.
    pub fn contents(&self) -> impl Iterator<Item = (&String, &String)> {
        self.files.iter()
    }

    /// A copy with these hashes of files.
    pub fn with_files(&self, files: BTreeMap<String, String>) -> Generation {
        Generation { files, ..self.clone() }
    }

    /// The id, version and layers of rules, without their files.
    pub fn of(rules: &Ruleset) -> Generation {
        Generation {
            ruleset: rules.id().into(),
            version: rules.version().into(),
            layers: rules.extra_layers().to_vec(),
            files: BTreeMap::new(),
        }
    }
}

impl StoreFile {
    /// Finds rules by their hash: those on disk if they are still equal, otherwise those in the file.
    pub fn find_rules(&mut self, hash: &str) -> Result<Arc<Ruleset>, StoreError> {
        if let Some(known) = self.rules.get(hash) {
            return Ok(known.clone());
        }
        let generation = self.generation(hash)?;
        let today = Ruleset::shared(&self.library, &generation.ruleset, &generation.layers).ok();
        let rules = match today.filter(|today| today.has_hash(hash)) {
            Some(today) => today,
            None => self.embedded(&generation)?,
        };
        if !rules.has_hash(hash) {
            return Err(StoreError::damaged(format!("the kept rules of {} are not those of the game", rules.id())));
        }
        self.rules.insert(hash.to_owned(), rules.clone());
        Ok(rules)
    }

    /// The hash under which the file has these rules: maybe that of an older program. Today's hash if it has them not.
    pub fn hash_of(&self, rules: &Ruleset) -> String {
        let today = rules.hash();
        if self.generations.contains(&today) {
            return today;
        }
        let older = self.generations.iter().filter(|known| ContentHash::is_checksum(known));
        older.into_iter().find(|known| rules.has_hash(known)).cloned().unwrap_or(today)
    }

    pub fn generation(&self, hash: &str) -> Result<Generation, StoreError> {
        let query = "SELECT body, sum FROM generation WHERE hash = ?1";
        let row = self.find(query, [hash], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?)))?;
        let missing = || StoreError::damaged(format!("the rules with hash {hash} are missing"));
        let (body, known) = row.ok_or_else(missing)?;
        if known != generation_sum(hash, &body) {
            return Err(StoreError::damaged(format!("the list of files of the rules {hash}")));
        }
        self.words.unpack(&body)
    }

    /// The stored files of rules, by path.
    pub fn files(&self, generation: &Generation) -> Result<BTreeMap<String, String>, StoreError> {
        let files = generation.files.iter();
        files.map(|(path, hash)| Ok((path.clone(), self.stored_file(path, hash)?))).collect()
    }

    /// The text of a stored file, which has this path in some rules.
    pub fn stored_file(&self, path: &str, hash: &str) -> Result<String, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT text FROM source WHERE hash = ?1").map_err(|error| self.failed(&error))?;
        let text = statement.query_row([hash], |row| Ok(source_text(row.get_ref(0)?))).optional();
        let text = text.map_err(|error| self.failed(&error))?.flatten();
        let text = text.filter(|text| ContentHash::fits(hash, text.as_bytes()));
        text.ok_or_else(|| StoreError::damaged(format!("the kept file {path}")))
    }

    fn embedded(&self, generation: &Generation) -> Result<Arc<Ruleset>, StoreError> {
        let library = Library::from_files(self.files(generation)?);
        Ok(Ruleset::shared(&library, &generation.ruleset, &generation.layers)?)
    }
}

impl FileWriter<'_> {
    /// Writes a rule file, compressed, unless it exists. Returns its hash.
    pub fn source(&self, text: &str) -> Result<String, StoreError> {
        let hash = ContentHash::of(text.as_bytes()).to_string();
        self.source_as(&hash, text)?;
        Ok(hash)
    }

    /// Writes a rule file under its hash, which may have the form of an older program.
    pub fn source_as(&self, hash: &str, text: &str) -> Result<(), StoreError> {
        let known = self.connection.prepare_cached("SELECT 1 FROM source WHERE hash = ?1");
        let known = known.and_then(|mut known| known.exists([hash]));
        if !known.map_err(|error| StoreError::of(Path::new("the file"), &error))? {
            let text = compressed(text);
            self.put("INSERT OR IGNORE INTO source (hash, text) VALUES (?1, ?2)", [&hash, &text])?;
        }
        Ok(())
    }

    /// Writes rules with their files.
    pub fn rules(&mut self, hash: &str, rules: &Generation, files: &Files) -> Result<(), StoreError> {
        let hashes = files.iter().map(|(path, text)| Ok((path.to_string(), self.source(text)?)));
        let rules = rules.with_files(hashes.collect::<Result<_, StoreError>>()?);
        self.generation(hash, &rules)
    }

    pub fn generation(&mut self, hash: &str, rules: &Generation) -> Result<(), StoreError> {
        let body = self.words.pack(rules)?;
        self.packed_generation(hash, &body)
    }

    pub fn packed_generation(&self, hash: &str, body: &[u8]) -> Result<(), StoreError> {
        let statement = "INSERT OR IGNORE INTO generation (hash, body, sum) VALUES (?1, ?2, ?3)";
        self.put(statement, [&hash, &body, &generation_sum(hash, body)])
    }
}

/// Compression level, 1 to 10. Files of a ruleset are compressed once, when a campaign begins.
const LEVEL: u8 = 6;
/// The most bytes of a rule file.
const MOST_BYTES: usize = 64 << 20;

/// Compresses the text of a source for storing.
pub fn compressed(text: &str) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(text.as_bytes(), LEVEL)
}

/// Decodes the stored text of a source, which was uncompressed up to format 2. `None` if it cannot be read.
pub fn source_text(stored: ValueRef<'_>) -> Option<String> {
    match stored {
        ValueRef::Text(text) => String::from_utf8(text.to_vec()).ok(),
        ValueRef::Blob(bytes) => decompressed(bytes),
        _ => None,
    }
}

/// Reverses [`compressed`]. `None` for other bytes.
pub fn decompressed(bytes: &[u8]) -> Option<String> {
    let text = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, MOST_BYTES).ok()?;
    String::from_utf8(text).ok()
}

pub fn generation_sum(hash: &str, body: &[u8]) -> i64 {
    sum(&[b"generation", hash.as_bytes(), body])
}
