ok
stumble
pass
