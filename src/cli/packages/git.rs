//! Reads the files of a git repository without a work tree, so that its hooks, filters, links and submodules have no
//! effect.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::package::{Gathered, MOST_ENTRIES};
use crate::cli::call_error;
use crate::cli::row::harmless;

/// The limits on time and size for fetching a repository.
const LONGEST: Duration = Duration::from_secs(120);
const MOST_BYTES: u64 = 200 << 20;

/// Returns the files of a repository at a tag or branch, or else at its head, with the commit.
///
/// # Errors
///
/// Git is missing, the address cannot be reached, the tag does not exist, or the package is too large.
pub fn files(address: &str, tag: Option<&str>) -> Result<(Gathered, String)> {
    let copy = BareClone::of(address, tag)?;
    let commit = copy.git(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    let mut listed = copy.call(&["ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD"]).stdout(Stdio::piped()).spawn()?;
    let mut wanted = Vec::new();
    let mut gathered = Gathered::default();
    let lines = BufReader::new(listed.stdout.take().expect("it is piped")).split(0);
    for line in lines.take(MOST_ENTRIES + 1) {
        let line = line?;
        let line = std::str::from_utf8(&line).context("a path in it is not UTF-8")?;
        let (about, path) = line.split_once('\t').context("git lists a file in an unknown way")?;
        let mut parts = about.split_whitespace();
        let (mode, _, object, size) = (parts.next(), parts.next(), parts.next(), parts.next());
        match (mode, object, size.and_then(|size| size.parse::<u64>().ok())) {
            (Some("100644" | "100755"), Some(object), Some(size)) => {
                if gathered.wants(path, size)? {
                    wanted.push((object.to_owned(), path.to_owned(), size));
                }
            }
            (Some("120000"), ..) if super::package::travels(path.rsplit('/').next().unwrap_or(path)) => {
                anyhow::bail!("`{}` is a link; a ruleset has only files of its own", harmless(path));
            }
            _ => gathered.left_out.push(path.to_owned()),
        }
    }
    let _ = listed.kill();
    listed.wait()?;
    copy.contents(&wanted, &mut gathered)?;
    Ok((gathered, commit))
}

/// A bare copy of a repository in a temporary folder, which is removed on drop.
struct BareClone {
    folder: PathBuf,
}

impl Drop for BareClone {
    fn drop(&mut self) {
        // A leftover temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl BareClone {
    fn of(address: &str, tag: Option<&str>) -> Result<BareClone> {
        let number =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
        let folder = std::env::temp_dir().join(format!("riskbreaker-add-{}-{number}", std::process::id()));
        // The temporary folder may be shared: creating ours fails if the name exists.
        std::fs::create_dir(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let copy = BareClone { folder };
        let mut call = git();
        call.args([
            "clone",
            "--quiet",
            "--bare",
            "--depth",
            "1",
            "--no-local",
            "--no-tags",
            "--single-branch",
            "--template=",
        ]);
        if let Some(tag) = tag {
            call.args(["--branch", tag]);
        }
        call.args(["--", address]).arg(&copy.folder);
        call.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = call.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => call_error("git is not installed; install it, or name a file or a folder"),
            _ => error.into(),
        })?;
        copy.wait(&mut child)?;
        let mut told = String::new();
        let status = child.wait()?;
        if let Some(stderr) = child.stderr.take() {
            stderr.take(4_000).read_to_string(&mut told)?;
        }
        if !status.success() {
            let told: Vec<String> = told.lines().map(harmless).collect();
            anyhow::bail!("git cannot read {}: {}", harmless(address), told.join("; "));
        }
        Ok(copy)
    }

    /// Waits for the clone. Ends it if it takes too long or becomes too large.
    fn wait(&self, child: &mut Child) -> Result<()> {
        let began = Instant::now();
        while child.try_wait()?.is_none() {
            if began.elapsed() > LONGEST || size_of(&self.folder) > MOST_BYTES {
                let _ = child.kill();
                let _ = child.wait();
                anyhow::bail!(
                    "the repository takes more than {} s, or is larger than {} MiB",
                    LONGEST.as_secs(),
                    MOST_BYTES >> 20
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn call(&self, args: &[&str]) -> Command {
        let mut call = git();
        call.arg("--git-dir").arg(&self.folder).args(args).stdin(Stdio::null()).stderr(Stdio::null());
        call
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        let output = self.call(args).output()?;
        if !output.status.success() {
            anyhow::bail!("the repository holds nothing, or git cannot read it");
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Reads the contents of files, each given by object, path and size.
    fn contents(&self, wanted: &[(String, String, u64)], gathered: &mut Gathered) -> Result<()> {
        let mut call = self.call(&["cat-file", "--batch"]);
        let mut child = call.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().expect("it is piped");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        for (object, path, size) in wanted {
            writeln!(stdin, "{object}")?;
            stdin.flush()?;
            let mut head = String::new();
            out.read_line(&mut head)?;
            anyhow::ensure!(head.trim_end() == format!("{object} blob {size}"), "git cannot read `{}`", harmless(path));
            let mut bytes = vec![0; usize::try_from(*size)?];
            out.read_exact(&mut bytes)?;
            out.read_exact(&mut [0])?;
            gathered.files.insert(path.clone(), bytes);
        }
        drop(stdin);
        child.wait()?;
        Ok(())
    }
}

/// Returns a git command that never prompts and only uses https, ssh and local files.
fn git() -> Command {
    let mut call = Command::new("git");
    call.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ALLOW_PROTOCOL", "https:ssh:file").env("GIT_LFS_SKIP_SMUDGE", "1");
    call.args(["-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "submodule.recurse=false"]);
    call
}

/// The size of all files in a folder. Files that disappear meanwhile are ignored.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// Returns the text of one file of a repository; `None` if there is no such file.
pub fn text(address: &str, tag: Option<&str>, path: &str) -> Result<Option<String>> {
    let copy = BareClone::of(address, tag)?;
    let object = format!("HEAD:{path}");
    let size = copy.call(&["cat-file", "-s", &object]).output()?;
    let size = String::from_utf8_lossy(&size.stdout).trim().parse::<u64>();
    let Ok(size) = size else { return Ok(None) };
    anyhow::ensure!(size <= super::archive::MOST_BYTES, "`{}` has {size} bytes, which is too large", harmless(path));
    let output = copy.call(&["cat-file", "blob", &object]).output()?;
    Ok(Some(String::from_utf8(output.stdout).context("it is not UTF-8 text")?))
}
