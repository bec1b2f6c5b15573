#!/usr/bin/env bash
# Installs what the tests need, then runs them all. Works as root or with sudo.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
# The compression library and SQLite are built from source.
command -v cc >/dev/null || missing+=(gcc libc6-dev)
# Written XML is checked by somebody else's parser.
command -v xmllint >/dev/null || missing+=(libxml2-utils)
# The tests start a server of their own on a scratch port.
[ -x /usr/lib/postgresql/15/bin/postgres ] || missing+=(postgresql-15)
# It speaks TLS with a certificate made for the test.
command -v openssl >/dev/null || missing+=(openssl)
# Reports are looked at in a browser.
command -v chromium >/dev/null || missing+=(chromium)
if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
fi

cargo test --workspace --locked
