rules off
