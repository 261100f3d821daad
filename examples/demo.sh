#!/bin/sh
# The first five minutes: learn a rule, then learn one from a file, ask why, watch it live, take it away.
set -e
mkdir -p demo
cd demo
rm -rf run runs

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
# A rule that some trace violates ends with exit code 1, which is an answer, not a failure.
show() { printf '$ fernn'; for word; do case $word in *[!A-Za-z0-9_./-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done; printf '\n'; fernn "$@" || [ $? -eq 1 ]; }

say "1. Good runs and bad runs: which rule tells them apart? (the first use compiles, once)"
show demo --seconds 10

say "2. The same with a file of recordings: look it over, learn from it"
show generate cruise -o cruise.csv --cases 100
show check cruise.csv
show learn cruise.csv --label label --time-limit 5 --out run
rule=$(python3 -c 'import json; front = json.load(open("run/front.json")); print(front["entries"][front["pick"]]["formula"])')

say "3. Why does one run violate the rule? The sample that decides"
show explain "$rule" cruise.csv --case anomaly-1

say "4. The rule, watched live: the verdict falls as soon as it is certain"
printf '$ printf "v\\n24\\n30\\n46\\n25\\n" | fernn monitor "%s"\n' "$rule"
printf 'v\n24\n30\n46\n25\n' | fernn monitor "$rule" || [ $? -eq 1 ]

say "5. Taken away: a C99 monitor with no dependencies"
show export "$rule" --to c -o monitor.c

say "Everything is in demo/. Now with a file of your own:"
echo "  . .venv/bin/activate"
echo "  fernn check FILE.csv"
echo "  fernn learn FILE.csv --label COLUMN"
