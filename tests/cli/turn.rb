ok
switch mercy asked
switch mercy
undo
switch mercy
switch mercy always
