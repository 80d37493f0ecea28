ok
-- the reason stands beside the option, and in the refusal
rally
who
