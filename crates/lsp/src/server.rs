use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, Diagnostic, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams, Position,
    PublishDiagnosticsParams, Range, RenameParams, TextDocumentIdentifier, TextDocumentPositionParams, TextEdit, Uri,
    WorkspaceEdit, WorkspaceSymbolParams,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::answers::CardPlace;
use super::card_odds::CardOddsJob;
use super::checker::{CheckOutcome, Checker, CheckerEvent, FoundProblems};
use super::document::{EditorText, range_in, span_in};
use super::finding::{diagnostic, range_of};
use super::fix::{Fix, allowance, fixes};
use super::message::{self, Broken};
use super::path::{of_uri, to_uri};
use super::semantic::SemanticSort;
use super::source_copies::SourceCopies;
use super::workspace::{RulesetFinder, Workspace};
use riskbreaker_ruleset::typed_text::read_json_value;
use riskbreaker_ruleset::{Problem, TextChange};
use riskbreaker_work::WorkBudget;

/// The server of one editor.
pub struct LanguageServer<W: Write> {
    output: W,
    events: (Sender<ServerEvent>, Receiver<ServerEvent>),
    pub(super) workspace: Workspace,
    checker: Checker,
    /// The files with diagnostics in the editor.
    shown: BTreeSet<PathBuf>,
    stage: Stage,
    /// True if the editor can register file watches.
    registers_watches: bool,
    /// Requests that are answered once all checks are done.
    waiting: Vec<RequestId>,
    /// Hovers over cards that wait for odds.
    hovers: Vec<WaitingHover>,
}

/// A hover over a card that waits for its odds.
struct WaitingHover {
    /// The answer without the odds.
    response: Response,
    place: CardPlace,
    /// True if the odds are being computed. Until then it waits for the checks.
    is_submitted: bool,
}

/// The stage of the connection.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Begun,
    Ready,
    ShutDown,
}

/// An event that the server handles.
enum ServerEvent {
    Message(Box<Message>),
    Broken(Broken),
    /// The end of the input.
    End,
    Checked(CheckOutcome),
    /// The odds for a hover, as Markdown.
    Odds {
        request: RequestId,
        text: String,
    },
    /// It is time to look at the files on disk.
    Clock,
    /// The checker has ended a job. `told`: set if the server sent the event to itself.
    Finished {
        told: bool,
    },
}

/// The result of a request, or why it failed.
type RequestResult = Result<Json, ResponseError>;

/// The work budget for testing whether a fix helps, for one file.
const WORK_OF_TRIAL: u64 = 200_000_000;

/// The time between two looks at the files on disk.
const CLOCK: Duration = Duration::from_secs(1);

/// A method of this server only: it is answered when all changes are checked.
const IDLE: &str = "riskbreaker/idle";

const HOVER: &str = "textDocument/hover";

/// The id of the only request that the server sends.
const WATCH: i32 = 1;

impl<W: Write> LanguageServer<W> {
    /// Starts the checker thread.
    pub(super) fn new(output: W, open: RulesetFinder, copies: Option<PathBuf>) -> io::Result<LanguageServer<W>> {
        let events = channel();
        let checked = events.0.clone();
        let checker = Checker::start(move |event| {
            // If nobody receives it, the server has ended.
            let _ = checked.send(match event {
                CheckerEvent::Checked(outcome) => ServerEvent::Checked(outcome),
                CheckerEvent::Odds { request, text } => ServerEvent::Odds { request, text },
                CheckerEvent::Finished => ServerEvent::Finished { told: false },
            });
        })?;
        let (workspace, shown) = (Workspace::new(open, SourceCopies::new(copies)), BTreeSet::new());
        let (stage, registers_watches) = (Stage::Begun, false);
        let (waiting, hovers) = (Vec::new(), Vec::new());
        Ok(LanguageServer { output, events, workspace, checker, shown, stage, registers_watches, waiting, hovers })
    }

    /// Reads messages until `exit` or the end of the input. Returns true if `shutdown` came first.
    pub(super) fn serve(mut self, mut input: impl BufRead + Send + 'static) -> io::Result<bool> {
        let read = self.events.0.clone();
        thread::Builder::new().name("reader".into()).spawn(move || {
            loop {
                let event = match message::read(&mut input) {
                    Ok(Some(Ok(message))) => ServerEvent::Message(Box::new(message)),
                    Ok(Some(Err(broken))) => ServerEvent::Broken(broken),
                    Ok(None) | Err(_) => ServerEvent::End,
                };
                let over = matches!(event, ServerEvent::End);
                if read.send(event).is_err() || over {
                    return;
                }
            }
        })?;
        while let Ok(event) = self.events.1.recv() {
            match event {
                ServerEvent::End => break,
                ServerEvent::Broken(broken) => broken.answer(&mut self.output)?,
                ServerEvent::Checked(outcome) => self.checked(outcome)?,
                ServerEvent::Odds { request, text } => self.odds_computed(&request, &text)?,
                ServerEvent::Finished { told } => self.finished(told)?,
                ServerEvent::Clock => {
                    for manifest in self.workspace.changed_on_disk() {
                        self.changed(&manifest);
                    }
                }
                ServerEvent::Message(message) => match *message {
                    Message::Request(request) if request.method == IDLE && self.stage == Stage::Ready => {
                        self.waiting.push(request.id);
                        self.finished(false)?;
                    }
                    Message::Request(request) if request.method == HOVER && self.stage == Stage::Ready => {
                        self.hover(request)?;
                    }
                    Message::Request(request) => {
                        let response = self.request(request);
                        Message::Response(response).write(&mut self.output)?;
                    }
                    Message::Notification(notification) if notification.method == "exit" => break,
                    Message::Notification(notification) => self.notified(notification)?,
                    Message::Response(_) => {}
                },
            }
        }
        Ok(self.stage == Stage::ShutDown)
    }

    /// Answers the requests that wait for the end of all checks. Their results are in the event queue before the second
    /// event.
    fn finished(&mut self, told: bool) -> io::Result<()> {
        let is_waited_for = !self.waiting.is_empty() || self.hovers.iter().any(|hover| !hover.is_submitted);
        if !is_waited_for || !self.checker.is_idle() {
            return Ok(());
        }
        if !told {
            // The queue ends with the server.
            let _ = self.events.0.send(ServerEvent::Finished { told: true });
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().try_for_each(|id| Message::Response(Response::new_ok(id, ())).write(&mut self.output))?;
        self.submit_odds()
    }

    /// Answers a hover. A hover over a card waits for the odds.
    fn hover(&mut self, request: Request) -> io::Result<()> {
        let place = read::<TextDocumentPositionParams>(request.params.clone()).ok().and_then(|params| {
            let card_at = || self.workspace.card_at(&params.text_document.uri, params.position);
            catch_unwind(AssertUnwindSafe(card_at)).ok().flatten()
        });
        let response = self.request(request);
        let Some(place) = place else { return Message::Response(response).write(&mut self.output) };
        self.hovers.push(WaitingHover { response, place, is_submitted: false });
        self.finished(false)
    }

    /// Starts computing the odds for the hovers that have waited for the checks.
    fn submit_odds(&mut self) -> io::Result<()> {
        let mut without = Vec::new();
        for hover in self.hovers.iter_mut().filter(|hover| !hover.is_submitted) {
            hover.is_submitted = true;
            let request = hover.response.id.clone();
            match self.workspace.card_for_odds(&hover.place) {
                Some(of) => self.checker.submit_odds(CardOddsJob { request, of }),
                None => without.push(request),
            }
        }
        without.iter().try_for_each(|request| self.odds_computed(request, "No odds: the rules do not load now."))
    }

    /// Answers a hover with the odds of its card; without them if the text is empty.
    fn odds_computed(&mut self, request: &RequestId, text: &str) -> io::Result<()> {
        let Some(at) = self.hovers.iter().position(|hover| hover.response.id == *request) else { return Ok(()) };
        let mut response = self.hovers.remove(at).response;
        if let Ok(hover) = &mut response.response_result
            && let Some(told) = hover["contents"]["value"].as_str()
            && !text.is_empty()
        {
            hover["contents"]["value"] = json!(format!("{told}\n\n---\n\n{text}"));
        }
        Message::Response(response).write(&mut self.output)
    }

    /// Answers all waiting hovers without odds: a text has changed, so the odds would be out of date.
    fn end_hovers(&mut self) -> io::Result<()> {
        let hovers = std::mem::take(&mut self.hovers);
        hovers.into_iter().try_for_each(|hover| Message::Response(hover.response).write(&mut self.output))
    }

    /// Cancels a request. All requests except hovers over cards are answered at once.
    fn cancel(&mut self, params: &Json) -> io::Result<()> {
        let Ok(id) = serde_json::from_value::<RequestId>(params["id"].clone()) else { return Ok(()) };
        let Some(at) = self.hovers.iter().position(|hover| hover.response.id == id) else { return Ok(()) };
        self.hovers.remove(at);
        self.checker.cancel_odds(&id);
        let error = refusal(ErrorCode::RequestCanceled, "the request was cancelled".into());
        Message::Response(Response { id, response_result: Err(error) }).write(&mut self.output)
    }

    fn request(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&method, params)));
        let response_result = answered.unwrap_or_else(|_| {
            Err(refusal(ErrorCode::InternalError, format!("`{method}` failed; standard error has the reason")))
        });
        Response { id, response_result }
    }

    fn answer(&mut self, method: &str, params: Json) -> RequestResult {
        match (self.stage, method) {
            (Stage::Begun, "initialize") => {
                self.stage = Stage::Ready;
                let watches = &params["capabilities"]["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"];
                self.registers_watches = watches.as_bool() == Some(true);
                self.workspace.is_told_of_files = self.registers_watches;
                return Ok(json!({
                    "capabilities": capabilities(),
                    "serverInfo": { "name": "riskbreaker", "version": env!("CARGO_PKG_VERSION") },
                }));
            }
            (Stage::Begun, _) => {
                return Err(refusal(ErrorCode::ServerNotInitialized, "the first request is `initialize`".into()));
            }
            (_, "initialize") => {
                return Err(refusal(ErrorCode::InvalidRequest, "`initialize` was called before".into()));
            }
            (Stage::ShutDown, _) => {
                return Err(refusal(ErrorCode::InvalidRequest, "only `exit` follows `shutdown`".into()));
            }
            (Stage::Ready, _) => {}
        }
        match method {
            "shutdown" => {
                self.stage = Stage::ShutDown;
                Ok(Json::Null)
            }
            "textDocument/codeAction" => with(params, |params| self.code_actions(&params)),
            HOVER => at(params, |uri, position| self.workspace.hover(uri, position)),
            "textDocument/definition" => at(params, |uri, position| self.workspace.definition(uri, position)),
            "textDocument/references" => at(params, |uri, position| self.workspace.references(uri, position)),
            "textDocument/signatureHelp" => at(params, |uri, position| self.workspace.call_help(uri, position)),
            "textDocument/completion" => at(params, |uri, position| self.workspace.completion(uri, position)),
            "textDocument/prepareRename" => {
                let params: TextDocumentPositionParams = read(params)?;
                let (uri, position) = (&params.text_document.uri, params.position);
                told(self.workspace.may_rename(uri, position).map(|range| json!(range)))
            }
            "textDocument/rename" => {
                let params: RenameParams = read(params)?;
                let place = params.text_document_position_params;
                told(self.workspace.rename(&place.text_document.uri, place.position, &params.new_name))
            }
            "textDocument/semanticTokens/full" => of_file(params, |uri| self.workspace.semantic_tokens(uri)),
            "textDocument/documentSymbol" => of_file(params, |uri| self.workspace.symbols(uri)),
            "textDocument/codeLens" => of_file(params, |uri| self.workspace.lenses(uri)),
            "textDocument/formatting" => of_file(params, |uri| self.workspace.formatted(uri)),
            "workspace/symbol" => with(params, |params: WorkspaceSymbolParams| self.workspace.search(&params.query)),
            _ => Err(refusal(ErrorCode::MethodNotFound, format!("there is no request `{method}`"))),
        }
    }

    fn notified(&mut self, notification: Notification) -> io::Result<()> {
        let Notification { method, params } = notification;
        if self.stage != Stage::Ready {
            return Ok(());
        }
        if method == "initialized" {
            return if self.registers_watches { self.watch() } else { self.start_clock() };
        }
        if method == "$/cancelRequest" {
            return self.cancel(&params);
        }
        let told = catch_unwind(AssertUnwindSafe(|| self.take(&method, params)));
        if method.starts_with("textDocument/did") || method.starts_with("workspace/did") {
            self.end_hovers()?;
        }
        let error = match told {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.message,
            Err(_) => "it failed; standard error has the reason".to_string(),
        };
        // A notification has no answer, so the error goes to the editor's log.
        self.notify("window/logMessage", &json!({ "type": 1, "message": format!("{method}: {error}") }))
    }

    /// Handles a notification of the editor.
    fn take(&mut self, method: &str, params: Json) -> Result<(), ResponseError> {
        match method {
            "textDocument/didOpen" => {
                let params: DidOpenTextDocumentParams = read(params)?;
                let item = params.text_document;
                if let Some(file) = of_uri(&item.uri) {
                    let document = EditorText { version: item.version, text: item.text };
                    self.workspace.documents.insert(file.clone(), document);
                    self.changed(&file);
                }
            }
            "textDocument/didChange" => {
                let params: DidChangeTextDocumentParams = read(params)?;
                let id = params.text_document;
                if let Some(file) = of_uri(&id.text_document_identifier.uri)
                    && let Some(document) = self.workspace.documents.get_mut(&file)
                {
                    document.version = id.version;
                    document.change(params.content_changes);
                    self.changed(&file);
                }
            }
            "textDocument/didClose" => {
                let params: DidCloseTextDocumentParams = read(params)?;
                if let Some(file) = of_uri(&params.text_document.uri)
                    && self.workspace.documents.remove(&file).is_some()
                {
                    self.changed(&file);
                }
            }
            "textDocument/didSave" => {
                let params: DidSaveTextDocumentParams = read(params)?;
                if let Some(file) = of_uri(&params.text_document.uri) {
                    self.changed(&file);
                }
            }
            "workspace/didChangeWatchedFiles" => {
                let params: DidChangeWatchedFilesParams = read(params)?;
                let files: BTreeSet<PathBuf> = params.changes.iter().filter_map(|change| of_uri(&change.uri)).collect();
                // If a file is open, the text in the editor counts.
                let mut folders = BTreeSet::new();
                for file in &files {
                    if self.workspace.documents.contains_key(file) {
                        continue;
                    }
                    if self.workspace.place_of(file).is_some_and(|place| folders.insert(place.folder)) {
                        self.changed(file);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Queues the checks that a change of a file requires.
    fn changed(&mut self, file: &Path) {
        let mut jobs = self.workspace.jobs_after(file).into_iter();
        if let Some(first) = jobs.next() {
            self.checker.submit(first);
        }
        jobs.for_each(|job| self.checker.submit_last(job));
    }

    /// Publishes the result of a check, unless its ruleset has changed since.
    fn checked(&mut self, outcome: CheckOutcome) -> io::Result<()> {
        let CheckOutcome { folder, turn, found } = outcome;
        if !self.workspace.is_current(&folder, turn) {
            return Ok(());
        }
        let files = match found {
            FoundProblems::File { path, problems } => {
                self.workspace.keep_of_file(&folder, &path, problems).into_iter().collect()
            }
            FoundProblems::Whole { analyses, partial } => self.workspace.keep(&folder, analyses, partial),
        };
        files.iter().try_for_each(|file| self.publish(file))
    }

    /// Sends all problems of a file.
    fn publish(&mut self, file: &Path) -> io::Result<()> {
        let (problems, text) = (self.workspace.problems_of(file), self.workspace.text_of(file));
        let diagnostics: Vec<Diagnostic> = problems.iter().map(|problem| diagnostic(problem, &text)).collect();
        let is_shown = !diagnostics.is_empty() || self.workspace.documents.contains_key(file);
        let was_shown = if is_shown { !self.shown.insert(file.to_owned()) } else { self.shown.remove(file) };
        if !is_shown && !was_shown {
            return Ok(());
        }
        let version = self.workspace.documents.get(file).map(|document| document.version);
        self.notify(
            "textDocument/publishDiagnostics",
            &PublishDiagnosticsParams { uri: to_uri(file), version, diagnostics },
        )
    }

    /// Looks at the files on disk from time to time, for an editor that cannot report what other programs change.
    fn start_clock(&self) -> io::Result<()> {
        let clock = self.events.0.clone();
        let run = move || {
            while clock.send(ServerEvent::Clock).is_ok() {
                thread::sleep(CLOCK);
            }
        };
        thread::Builder::new().name("clock".into()).spawn(run).map(drop)
    }

    /// Asks the editor to report files that other programs change.
    fn watch(&mut self) -> io::Result<()> {
        let watchers = json!([{ "globPattern": "**/*.{luau,lua,toml,md}" }]);
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        let params = json!({ "registrations": [registration] });
        let request = Request::new(RequestId::from(WATCH), "client/registerCapability".into(), params);
        Message::Request(request).write(&mut self.output)
    }

    fn notify(&mut self, method: &str, params: &impl Serialize) -> io::Result<()> {
        let params = serde_json::to_value(params).map_err(io::Error::other)?;
        let notification = Notification { method: method.to_owned(), params };
        Message::Notification(notification).write(&mut self.output)
    }

    /// The code actions in a range: from the cures of its problems, and what can be written anew from there.
    fn code_actions(&self, params: &CodeActionParams) -> Option<Vec<Json>> {
        let wanted = params.context.only.as_ref();
        let is_wanted = |kind: &str| {
            let is_of = |wanted: &CodeActionKind| kind.starts_with(&*wanted.to_string());
            wanted.is_none_or(|kinds| kinds.iter().any(is_of))
        };
        let uri = &params.text_document.uri;
        let mut actions = Vec::new();
        if is_wanted("quickfix") {
            let fixes = self.quick_fixes(uri, params.range)?;
            actions.extend(fixes);
        }
        if is_wanted("refactor") {
            for new in self.workspace.new_files(uri, params.range.start) {
                let edit = self.workspace.edit_of(&new);
                actions.push(json!({ "title": new.title, "kind": "refactor", "edit": edit }));
            }
        }
        Some(actions)
    }

    fn quick_fixes(&self, uri: &Uri, range: Range) -> Option<Vec<Json>> {
        let file = of_uri(uri)?;
        let text = self.workspace.text_of(&file);
        let asked = range_in(&text, range);
        let mut actions = Vec::new();
        for problem in self.workspace.problems_of(&file) {
            let range = range_of(&problem, &text);
            if range.start > asked.end || asked.start > range.end {
                continue;
            }
            let mut offer =
                |fix, preferred| actions.extend(serde_json::to_value(action(uri, &text, &problem, fix, preferred)));
            if problem.lint == Some("untyped-verb")
                && let Some(fix) = self.in_new_form(&file, &text)
            {
                offer(fix, true);
            }
            for fix in fixes(&problem, &text) {
                let helps = self.helps(&file, &text, &problem, &fix);
                if helps != Some(false) {
                    let is_preferred = fix.is_preferred && helps == Some(true);
                    offer(fix, is_preferred);
                }
            }
            if let Some(fix) = allowance(&problem, &text) {
                offer(fix, false);
            }
            if let Some(new) = self.workspace.missing_declaration(uri, &problem) {
                let (edit, diagnostics) = (self.workspace.edit_of(&new), [diagnostic(&problem, &text)]);
                actions
                    .push(json!({ "title": new.title, "kind": "quickfix", "edit": edit, "diagnostics": diagnostics }));
            }
        }
        Some(actions)
    }

    /// The fix that rewrites a file with the types of all its verbs.
    fn in_new_form(&self, file: &Path, text: &str) -> Option<Fix> {
        let place = self.workspace.place_of(file)?;
        let analysis = self.workspace.analyses(&place.folder).first()?;
        let new_text = analysis.in_new_form(&place.path(), text, &WorkBudget::new(WORK_OF_TRIAL))?;
        Some(Fix {
            title: "Declare the types of all verbs in this file".into(),
            range: 0..text.len(),
            new_text,
            is_preferred: true,
        })
    }

    /// True if a fix removes a problem and causes no other; `None` if only a check of the whole ruleset can tell.
    fn helps(&self, file: &Path, text: &str, problem: &Problem, fix: &Fix) -> Option<bool> {
        let place = self.workspace.place_of(file)?;
        let change = TextChange { begin: fix.range.start, end: fix.range.end, text: fix.new_text.clone() };
        let analyses = self.workspace.analyses(&place.folder);
        let tried = |analysis: &Arc<riskbreaker_check::Analysis>| {
            analysis.helps(problem, text, &change, &WorkBudget::new(WORK_OF_TRIAL))
        };
        analyses.iter().filter_map(tried).next_back()
    }
}

/// The code action for a fix.
fn action(uri: &Uri, text: &str, problem: &Problem, fix: Fix, preferred: bool) -> CodeAction {
    let edit = TextEdit { range: span_in(text, fix.range), new_text: fix.new_text };
    let changes = [(uri.clone(), vec![edit])].into_iter().collect();
    CodeAction {
        title: fix.title,
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![diagnostic(problem, text)]),
        is_preferred: preferred.then_some(true),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    }
}

fn capabilities() -> Json {
    json!({
        "textDocumentSync": { "openClose": true, "change": 2, "save": true },
        "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor"] },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "renameProvider": { "prepareProvider": true },
        "completionProvider": { "triggerCharacters": [".", ":", "\"", "/"] },
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "semanticTokensProvider": {
            "legend": { "tokenTypes": SemanticSort::LEGEND, "tokenModifiers": [] },
            "full": true,
        },
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "codeLensProvider": {},
        "documentFormattingProvider": true,
    })
}

fn refusal(code: ErrorCode, message: String) -> ResponseError {
    ResponseError { code: code as i32, message, data: None }
}

fn read<P: DeserializeOwned>(params: Json) -> Result<P, ResponseError> {
    read_json_value(params).map_err(|error| refusal(ErrorCode::InvalidParams, error))
}

/// Answers a request with a position as its only used parameter.
fn at<R: Serialize>(params: Json, answer: impl FnOnce(&Uri, Position) -> R) -> RequestResult {
    with(params, |params: TextDocumentPositionParams| answer(&params.text_document.uri, params.position))
}

/// Answers a request about a file.
fn of_file<R: Serialize>(mut params: Json, answer: impl FnOnce(&Uri) -> R) -> RequestResult {
    with(params["textDocument"].take(), |id: TextDocumentIdentifier| answer(&id.uri))
}

/// Converts an error to a refusal with a message for the user.
fn told(answer: Result<Json, String>) -> RequestResult {
    answer.map_err(|why| refusal(ErrorCode::RequestFailed, why))
}

/// Parses the parameters of a request and answers it.
fn with<P: DeserializeOwned, R: Serialize>(params: Json, answer: impl FnOnce(P) -> R) -> RequestResult {
    let answer = answer(read(params)?);
    serde_json::to_value(answer).map_err(|error| refusal(ErrorCode::InternalError, error.to_string()))
}
