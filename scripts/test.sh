#!/usr/bin/env bash
# Installs what the tests need, then runs them all. Works as root or with sudo.
set -euo pipefail
cd "$(dirname "$0")/.."

# A C compiler: the compression library is built from source.
if ! command -v cc >/dev/null; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update
    "${as_root[@]}" apt-get install -y --no-install-recommends gcc libc6-dev
fi

cargo test --workspace --locked
