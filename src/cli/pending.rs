//! Stands in for what the core does not have yet. This file goes when it does.

use riskbreaker::{Answer, Fault, Library, QuestionId, Refusal, Session};

pub struct Table;

pub struct Evaluated {
    pub printed: Vec<String>,
    pub value: Option<String>,
    pub incomplete: bool,
}

impl Table {
    pub fn new(_: &Library) -> Table {
        Table
    }

    pub fn eval(&mut self, _: &str, _: &str) -> Result<Evaluated, Fault> {
        let fault = serde_json::json!({ "message": "Lua programs cannot be run yet", "chain": [], "fatal": false });
        Err(serde_json::from_value(fault).expect("a fault"))
    }

    pub fn eval_with(&mut self, _: &mut Session, source: &str, name: &str) -> Result<Evaluated, Fault> {
        self.eval(source, name)
    }
}

pub trait Pending: Sized {
    fn suggest(&mut self, question: QuestionId, policy: &str) -> Result<Option<Answer>, Refusal>;
    fn save(&self) -> String;
    fn load(library: &Library, text: &str) -> Result<Self, String>;
}

impl Pending for Session {
    fn suggest(&mut self, _: QuestionId, _: &str) -> Result<Option<Answer>, Refusal> {
        Ok(None)
    }

    fn save(&self) -> String {
        String::new()
    }

    fn load(_: &Library, _: &str) -> Result<Session, String> {
        Err("saved games cannot be read yet".into())
    }
}
