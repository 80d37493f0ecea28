ok
free
give up
undo
= game:outcome()
