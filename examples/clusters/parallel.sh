#!/bin/sh
# shellcheck disable=SC2016 # each job fills in its own number
parallel -N0 --halt now,fail=1 --jobs 8 \
	'riskbreaker sim duel --trials 1000000 --threads 1 --shard env/8 --save "part-$PARALLEL_SEQ.json"' \
	::: 1 2 3 4 5 6 7 8
