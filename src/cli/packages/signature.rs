//! Signatures of packed files, in the format of minisign: `house-1.2.0.zip.minisig` beside `house-1.2.0.zip`.

use std::fs::File;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use minisign::{KeyPair, PublicKey, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};

use super::package::Package;
use crate::cli::row::harmless;
use crate::cli::{call_error, file};

/// The extension of the file with the signature of a packed file.
const ENDING: &str = "minisig";
/// The most bytes of a signature or key file.
const MOST_BYTES: usize = 4096;

/// A packed file, with the text of its signature.
#[derive(Debug)]
pub struct PackedFile {
    pub bytes: Vec<u8>,
    signature: Option<String>,
}

/// The public key of an author, which a lock may pin for a ruleset.
#[derive(Debug)]
pub struct AuthorKey(PublicKey);

/// The path of the signature of a packed file.
pub fn path_for(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ENDING);
    name.into()
}

impl PackedFile {
    /// Returns a packed file with these bytes, and the signature next to it if there is one.
    pub fn new(path: &Path, bytes: Vec<u8>) -> PackedFile {
        let signature = file::read(&path_for(path)).ok().filter(|text| text.len() <= MOST_BYTES);
        PackedFile { bytes, signature }
    }

    /// True if there is a signature file, valid or not.
    pub fn has_signature(&self) -> bool {
        self.signature.is_some()
    }
}

impl AuthorKey {
    /// Parses a public key: the line that begins with `RW`, or the name of a file that contains it.
    ///
    /// # Errors
    ///
    /// The text is neither a key nor such a file.
    pub fn read(text: &str) -> Result<AuthorKey> {
        let no_key = || {
            let shown = harmless(text);
            call_error(format!("`{shown}` is no public key: name the file, or the line in it that begins with RW"))
        };
        if let Ok(key) = PublicKey::from_base64(text) {
            return Ok(AuthorKey(key));
        }
        let held = file::read(Path::new(text)).map_err(|_| no_key())?;
        let read = PublicKeyBox::from_string(&held).and_then(PublicKeyBox::into_public_key);
        read.map(AuthorKey).map_err(|_| no_key())
    }

    /// The key as the line that [`AuthorKey::read`] parses.
    pub fn line(&self) -> String {
        self.0.to_base64()
    }

    /// Requires that a package was signed with this key. `packed`: the file that it was read from, if any. `place`: its
    /// source.
    ///
    /// # Errors
    ///
    /// It is no packed file, has no signature, or has a wrong one.
    pub fn must_have_signed(&self, packed: Option<&PackedFile>, place: &str, id: &str) -> Result<()> {
        let place = harmless(place);
        let Some(packed) = packed else {
            anyhow::bail!(
                "{id} must be signed with the key {}, and {place} is no packed file: folders and repositories have no signature",
                self.line()
            );
        };
        let Some(text) = &packed.signature else {
            anyhow::bail!(
                "{id} must be signed with the key {}, and there is no signature {place}.{ENDING} beside {place}",
                self.line()
            );
        };
        let signature = SignatureBox::from_string(text).map_err(|_| {
            anyhow::anyhow!("{place}.{ENDING} is no signature of minisign; fetch {place} and its signature again")
        })?;
        minisign::verify(&self.0, &signature, Cursor::new(&packed.bytes), true, false, false).map_err(|_| {
            anyhow::anyhow!(
                "the signature {place}.{ENDING} is wrong: {place} was changed after it was signed, or signed with another key than {}",
                self.line()
            )
        })
    }
}

/// Signs a packed file with the secret key in a file, and writes the signature next to it. Asks for the password of the
/// key if it has one. Returns the path of the signature and the public key.
///
/// # Errors
///
/// The key cannot be read, or the signature cannot be written.
pub fn sign(path: &Path, bytes: &[u8], key: &Path, package: &Package) -> Result<(PathBuf, AuthorKey)> {
    let secret = secret_key(key)?;
    let public = PublicKey::from_secret_key(&secret).context("the key is damaged")?;
    let comment = format!("{} {}", package.id, package.hash());
    let signature = minisign::sign(Some(&public), &secret, Cursor::new(bytes), Some(&comment), None)?;
    let beside = path_for(path);
    file::replace(&beside, signature.to_string()).with_context(|| format!("cannot write {}", beside.display()))?;
    Ok((beside, AuthorKey(public)))
}

/// Creates a pair of keys: the secret one in a new file, the public one in a file with the extension `.pub`. Returns
/// the path of the latter and the public key.
///
/// # Errors
///
/// A file exists, or cannot be written.
pub fn make_keys(path: &Path) -> Result<(PathBuf, AuthorKey)> {
    let pair = KeyPair::generate_unencrypted_keypair().context("cannot make a key")?;
    let mut options = File::options();
    options.write(true).create_new(true);
    // Nobody else may read it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        let held = pair.sk.to_box(None).map_err(std::io::Error::other)?.into_string();
        file.write_all(held.as_bytes())?;
        file.sync_all()
    });
    written.with_context(|| format!("cannot write {}", path.display()))?;
    let beside = PathBuf::from(format!("{}.pub", path.display()));
    file::replace(&beside, pair.pk.to_box()?.into_string())
        .with_context(|| format!("cannot write {}", beside.display()))?;
    Ok((beside, AuthorKey(pair.pk)))
}

fn secret_key(path: &Path) -> Result<SecretKey> {
    let shown = path.display();
    let text = file::read(path).map_err(|error| {
        call_error(format!("cannot read the key {shown}: {error}. `riskbreaker pack --make-key {shown}` makes one"))
    })?;
    let held = || SecretKeyBox::from_string(&text);
    if let Ok(secret) = held().and_then(SecretKeyBox::into_unencrypted_secret_key) {
        return Ok(secret);
    }
    // It asks for the password.
    held().and_then(|held| held.into_secret_key(None)).map_err(|error| {
        anyhow::anyhow!("cannot use the key {shown}: {error}. `riskbreaker pack --make-key FILE` makes one that works")
    })
}
