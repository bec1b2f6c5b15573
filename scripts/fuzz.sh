#!/usr/bin/env bash
# The long campaign: so many instances of every family (a million if not told otherwise), then of every reader.
# usage: scripts/fuzz.sh [INSTANCES [SEED [THREADS]]]
set -euo pipefail
cd "$(dirname "$0")/.."

instances=${1:-1000000}
seed=${2:-1}
threads=${3:-$(nproc)}

cargo build --release --locked -p bosket-fuzz
for targets in verify anonymize readers; do
    target/release/fuzz --target "$targets" --instances "$instances" --seed "$seed" --threads "$threads"
done
