#!/usr/bin/env bash
# The main job on the built-in example: look at the data, draft a policy, verify a claim and see a witness.
# Everything is written into ./clinic (or the folder named as the first argument).
set -euo pipefail
folder=${1:-clinic}
here=$(cd "$(dirname "$0")/.." && pwd)
cargo build --release --quiet --locked --manifest-path "$here/Cargo.toml" -p bosket
bosket() { "$here/target/release/bosket" "$@"; }
show() { printf '\n\033[1m$ bosket %s\033[0m\n' "$*"; bosket "$@"; }

show generate clinic --out "$folder" --force
show inspect "$folder/data.ndjson" --draft "$folder/draft.toml" --force
show anonymize "$folder/policy.toml" --dry-run
show hierarchy show --policy "$folder/policy.toml" --path 'visits[].hospital'

# The raw data breaks the claim: exit code 1, with a witness.
code=0
show verify "$folder/data.ndjson" --policy "$folder/policy.toml" || code=$?
if [ "$code" -ne 1 ]; then
    echo "error: expected a violated claim (exit code 1), got $code" >&2
    exit 1
fi
show verify "$folder/data.ndjson" --policy "$folder/policy.toml" --set privacy.k=2 --set privacy.m=1 --set privacy.n=0 \
    --set 'attribute["birth_year"].role=insensitive'
printf '\nNext: read %s/draft.toml, correct the roles, and verify your own data with it.\n' "$folder"
