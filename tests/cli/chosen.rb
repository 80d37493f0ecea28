low
strike
rally
