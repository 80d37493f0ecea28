# nothing is done here
