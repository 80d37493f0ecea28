ok
stumble
sheet
undo
stumble
skip
say the script goes on
