//! A test editor: talks to the language server over standard input and output, and keeps the texts like an editor.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value as Json, json};

use crate::files;

pub struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: PathBuf,
    /// The open texts with their versions, by path from the folder of rulesets.
    open: BTreeMap<String, (i64, String)>,
    /// The published diagnostics, with the version.
    published: Vec<(String, Option<i64>, Vec<Json>)>,
    next_id: i64,
}

#[allow(dead_code)]
impl Editor {
    /// Starts an editor on the folder of some rulesets and initializes the server.
    pub fn over(ids: &[&str]) -> Editor {
        let mut editor = Editor::before_initialize(ids);
        editor.initialize();
        editor
    }

    pub fn before_initialize(ids: &[&str]) -> Editor {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("riskbreaker lsp {}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        for (path, text) in files::of(ids) {
            let file = folder.join(&path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let mut server = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
            .args(["lsp", "--stdio"])
            .current_dir(&folder)
            .env("XDG_STATE_HOME", folder.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        Editor { server, input, output, folder, open: BTreeMap::new(), published: Vec::new(), next_id: 0 }
    }

    pub fn initialize(&mut self) -> Json {
        let answer = self.request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }));
        self.notify("initialized", &json!({}));
        answer
    }

    /// Shuts the server down and waits for its end.
    pub fn end(mut self) {
        assert_eq!(self.request("shutdown", Json::Null), Json::Null);
        self.notify("exit", &Json::Null);
        assert_eq!(self.code(), Some(0));
    }

    pub fn close_input(&mut self) {
        self.input = None;
    }

    pub fn code(&mut self) -> Option<i32> {
        self.server.wait().unwrap().code()
    }

    pub fn raw(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    pub fn notify(&mut self, method: &str, params: &Json) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request and returns its result; panics on an error.
    pub fn request(&mut self, method: &str, params: Json) -> Json {
        let answer = self.request_raw(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and returns its complete response.
    pub fn request_raw(&mut self, method: &str, params: Json) -> Json {
        self.next_id += 1;
        let id = self.next_id;
        self.raw(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let response = self.next_response();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    pub fn next_response(&mut self) -> Json {
        loop {
            let message = self.read();
            if message.get("method").is_none() {
                return message;
            }
            self.take(&message);
        }
    }

    fn take(&mut self, message: &Json) {
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            let uri = params["uri"].as_str().unwrap().to_owned();
            let found = params["diagnostics"].as_array().unwrap().clone();
            self.published.push((uri, params["version"].as_i64(), found));
        }
    }

    fn read(&mut self) -> Json {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            if line.trim().is_empty() {
                break;
            }
            length = line.strip_prefix("Content-Length: ").unwrap().trim().parse().unwrap();
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    pub fn uri(&self, path: &str) -> String {
        let file = self.folder.join(path).display().to_string().replace('\\', "/").replace(' ', "%20");
        if file.starts_with('/') { format!("file://{file}") } else { format!("file:///{file}") }
    }

    /// The path of a URI, from the folder of rulesets.
    pub fn path_of(&self, uri: &Json) -> String {
        let uri = uri.as_str().unwrap();
        let root = self.uri("");
        uri.strip_prefix(root.trim_end_matches('/')).unwrap().trim_start_matches('/').to_owned()
    }

    /// Opens a file. Returns the diagnostics of the complete check.
    pub fn open(&mut self, path: &str) -> Vec<Json> {
        let text = fs::read_to_string(self.folder.join(path)).unwrap();
        self.open_with(path, &text)
    }

    pub fn open_with(&mut self, path: &str, text: &str) -> Vec<Json> {
        self.open.insert(path.to_owned(), (1, text.to_owned()));
        let item = json!({ "uri": self.uri(path), "languageId": "luau", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": item }));
        self.diagnostics(path)
    }

    pub fn text(&self, path: &str) -> &str {
        &self.open[path].1
    }

    /// Replaces a text by one change of a range.
    pub fn replace(&mut self, path: &str, from: &str, to: &str) {
        let text = self.text(path);
        let at = text.find(from).unwrap_or_else(|| panic!("{path} has no {from}"));
        let range = json!({ "start": position(text, at), "end": position(text, at + from.len()) });
        self.change(path, &[json!({ "range": range, "newText": to })]);
    }

    /// Applies edits of one text, which do not overlap.
    pub fn change(&mut self, path: &str, edits: &[Json]) {
        let uri = self.uri(path);
        let Some((version, text)) = self.open.get_mut(path) else {
            // An editor opens a file that it changes.
            let file = self.folder.join(path);
            let text = applied(&fs::read_to_string(&file).unwrap(), edits);
            return fs::write(file, text).unwrap();
        };
        *version += 1;
        let changes: Vec<Json> =
            last_first(edits).iter().map(|edit| json!({ "range": edit["range"], "text": edit["newText"] })).collect();
        *text = applied(text, edits);
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Applies the edit of an action or of a rename, which may move files.
    pub fn apply(&mut self, edit: &Json) {
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            if change["kind"] == "rename" {
                let [from, to] = ["oldUri", "newUri"].map(|uri| self.path_of(&change[uri]));
                fs::rename(self.folder.join(&from), self.folder.join(&to)).unwrap();
                if let Some(open) = self.open.remove(&from) {
                    self.open.insert(to, open);
                }
            } else {
                let path = self.path_of(&change["textDocument"]["uri"]);
                self.change(&path, change["edits"].as_array().unwrap());
            }
        }
        for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
            let path = self.path_of(&json!(uri));
            self.change(&path, edits.as_array().unwrap());
        }
    }

    /// Returns the diagnostics of an open file after the complete check of its last version. After a change, the server
    /// publishes those of the file and then those of the ruleset, so this waits until it is idle.
    pub fn diagnostics(&mut self, path: &str) -> Vec<Json> {
        self.diagnostics_until(path, |_| true)
    }

    /// Returns the diagnostics of a file once they are as wanted and the complete check is over.
    pub fn diagnostics_until(&mut self, path: &str, wanted: impl Fn(&[Json]) -> bool) -> Vec<Json> {
        self.wait_for_checks();
        let uri = self.uri(path);
        let last = self.published.iter().rev().find(|(shown, ..)| *shown == uri);
        let found = last.map_or(&[][..], |(.., found)| found);
        assert!(wanted(found), "{path}: {found:#?}");
        found.to_vec()
    }

    /// Returns the diagnostics of all files after the complete check, as `path:line message`.
    pub fn all_diagnostics(&mut self) -> BTreeSet<String> {
        self.wait_for_checks();
        let last: BTreeMap<&String, &Vec<Json>> = self.published.iter().map(|(uri, _, found)| (uri, found)).collect();
        let shown = |uri: &str, one: &Json| {
            let line = one["range"]["start"]["line"].as_u64().unwrap() + 1;
            format!("{}:{line} {}", self.path_of(&json!(uri)), one["message"].as_str().unwrap())
        };
        last.into_iter().flat_map(|(uri, found)| found.iter().map(move |one| shown(uri, one))).collect()
    }

    /// Waits until the last change is completely checked.
    fn wait_for_checks(&mut self) {
        self.request("riskbreaker/idle", Json::Null);
    }

    /// Requests the quick fixes in a range.
    pub fn actions(&mut self, path: &str, range: &Json) -> Vec<Json> {
        let params = json!({
            "textDocument": { "uri": self.uri(path) },
            "range": range,
            "context": { "diagnostics": [] },
        });
        self.request("textDocument/codeAction", params).as_array().unwrap().clone()
    }

    /// Sends a request for the position of a piece of text, some characters after its beginning.
    pub fn at(&mut self, method: &str, path: &str, piece: &str, within: usize, more: Json) -> Json {
        let answer = self.at_raw(method, path, piece, within, more);
        assert!(answer.get("error").is_none(), "{method} at {piece}: {answer}");
        answer["result"].clone()
    }

    /// Like [`Editor::at`]; returns the complete response.
    pub fn at_raw(&mut self, method: &str, path: &str, piece: &str, within: usize, more: Json) -> Json {
        let text = self.text_of(path);
        let at = text.find(piece).unwrap_or_else(|| panic!("{path} has no {piece}")) + within;
        let mut params = json!({ "textDocument": { "uri": self.uri(path) }, "position": position(&text, at) });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.request_raw(method, params)
    }

    /// The position of the end of a text.
    pub fn place(&self, text: &str) -> Json {
        position(text, text.len())
    }

    /// Replaces a complete text.
    pub fn set(&mut self, path: &str, text: &str, change: &Json) {
        let uri = self.uri(path);
        let (version, shown) = self.open.get_mut(path).unwrap();
        *version += 1;
        text.clone_into(shown);
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// Writes a file in the folder.
    pub fn write(&self, path: &str, text: &str) {
        let file = self.folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.folder.join(path)).unwrap();
    }

    /// Runs the program on the folder of rulesets, and returns its output.
    pub fn run(&self, call: &[&str]) -> String {
        let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        let output = program.arg("--rulesets").arg(&self.folder).args(call).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// The text of a file: as it is open, else on disk.
    pub fn text_of(&self, path: &str) -> String {
        match self.open.get(path) {
            Some((_, text)) => text.clone(),
            None => fs::read_to_string(self.folder.join(path)).unwrap(),
        }
    }

    /// The text of an open file in a range.
    pub fn is_read_only(&self, path: &str) -> bool {
        fs::metadata(self.folder.join(path)).unwrap().permissions().readonly()
    }

    pub fn text_in(&self, path: &str, range: &Json) -> String {
        let text = self.text_of(path);
        text[offset(&text, &range["start"])..offset(&text, &range["end"])].to_owned()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn last_first(edits: &[Json]) -> Vec<Json> {
    let mut edits = edits.to_vec();
    let place = |edit: &Json| {
        let start = &edit["range"]["start"];
        (start["line"].as_u64(), start["character"].as_u64())
    };
    edits.sort_by_key(place);
    edits.reverse();
    edits
}

fn applied(text: &str, edits: &[Json]) -> String {
    let mut text = text.to_owned();
    for edit in last_first(edits) {
        let range = offset(&text, &edit["range"]["start"])..offset(&text, &edit["range"]["end"]);
        text.replace_range(range, edit["newText"].as_str().unwrap());
    }
    text
}

fn position(text: &str, at: usize) -> Json {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    json!({ "line": text[..at].matches('\n').count(), "character": text[begin..at].encode_utf16().count() })
}

fn offset(text: &str, position: &Json) -> usize {
    let (line, character) = (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
    let begin: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
    let mut units = 0;
    for (at, letter) in text[begin..].char_indices() {
        if units >= character {
            return begin + at;
        }
        units += letter.len_utf16() as u64;
    }
    text.len()
}
