mod asking;
mod command;
mod complete;
mod line;
mod meaning;
mod prompt;
mod telling;
mod vocabulary;
