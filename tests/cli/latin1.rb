ok
say grüße
