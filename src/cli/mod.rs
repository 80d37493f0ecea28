mod nearest;
mod repl;
mod screen;
