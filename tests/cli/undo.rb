# A line is undone whole, however many decisions it held.
stance low
strike stake 2 on bandit
undo
redo
undo 9
