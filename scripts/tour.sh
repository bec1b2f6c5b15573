#!/usr/bin/env bash
# The main job on the built-in example: look at the data, see a broken promise, publish, verify.
# Everything is written into ./clinic (or the folder named as the first argument).
set -euo pipefail
folder=${1:-clinic}
here=$(cd "$(dirname "$0")/.." && pwd)
cargo build --release --quiet --locked --manifest-path "$here/Cargo.toml" -p bosket
bosket() { "$here/target/release/bosket" "$@"; }
show() { printf '\n\033[1m$ bosket %s\033[0m\n' "$*"; bosket "$@"; }

show generate clinic --out "$folder" --force
show inspect "$folder/data.ndjson" --draft "$folder/draft.toml" --force
show hierarchy show --policy "$folder/policy.toml" --path 'visits[].hospital'

# The raw data breaks the promise: exit code 1, with a witness.
code=0
show verify "$folder/data.ndjson" --policy "$folder/policy.toml" || code=$?
if [ "$code" -ne 1 ]; then
    echo "error: expected a violated claim (exit code 1), got $code" >&2
    exit 1
fi
show anonymize "$folder/policy.toml" --force
show verify "$folder/published.ndjson" --policy "$folder/policy.toml" --against "$folder/data.ndjson"
printf '\nNext: look at %s/published.ndjson; read %s/draft.toml and draft a policy for your own data.\n' "$folder" "$folder"
