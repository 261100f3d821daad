#!/bin/sh
# The first five minutes: make recordings, look them over, judge a rule, ask why, watch it live, take it away.
set -e
mkdir -p demo
cd demo

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
# A rule that some trace violates ends with exit code 1, which is an answer, not a failure.
show() { printf '$ fernn'; for word; do case $word in *[!A-Za-z0-9_./-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done; printf '\n'; fernn "$@" || [ $? -eq 1 ]; }

say "1. Recordings of good and bad runs: a train under cruise control, its brakes working or not"
show generate cruise -o cruise.csv --cases 100
show check cruise.csv

say "2. A rule, judged exactly on every run (the first use compiles for a few seconds, once)"
show eval 'G (v <= 34.3)' cruise.csv

say "3. Why does one run violate it? The sample that decides"
show explain 'G (v <= 34.3)' cruise.csv --case anomaly-1

say "4. The same rule, watched live: the verdict falls as soon as it is certain"
printf '$ printf "v\\n24\\n30\\n36\\n25\\n" | fernn monitor "G (v <= 34.3)"\n'
printf 'v\n24\n30\n36\n25\n' | fernn monitor 'G (v <= 34.3)' || [ $? -eq 1 ]

say "5. Taken away: a C99 monitor with no dependencies"
show export 'H (v <= 34.3)' --to c -o monitor.c

say "Everything is in demo/. Now with a file of your own:"
echo "  . .venv/bin/activate"
echo "  fernn check FILE.csv"
echo "  fernn eval 'G (channel <= 1.5)' FILE.csv"
