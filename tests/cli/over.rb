give up
strike
