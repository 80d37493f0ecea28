pub mod ruleset;
