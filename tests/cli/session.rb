stance low
strike stake 2 on bandit
undo
redo
undo 9
