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
# Signatures are checked by the program whose form they have.
command -v minisign >/dev/null || missing+=(minisign)
# Reports are looked at in a browser.
command -v chromium >/dev/null || missing+=(chromium)
# The pages are bundled and walked through.
if ! command -v npm >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)'; then
    missing+=(nodejs npm)
fi
# The Python package is built and tested in an environment of its own.
if ! command -v python3 >/dev/null || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    missing+=(python3-venv python3-dev)
fi
# The tests start a cluster of Spark.
command -v java >/dev/null || missing+=(openjdk-17-jre-headless)
if [ "${#missing[@]}" -gt 0 ]; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
fi

cargo test --workspace --locked

# Debian's Python of the machine, unless another comes first on the path.
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "error: the Python package needs Python 3.11 or newer with venv (Debian 12: python3-venv)" >&2
    exit 1
fi
rm -rf target/python
python3 -m venv target/python
target/python/bin/pip install --quiet --disable-pip-version-check maturin -r crates/python/requirements-test.txt -r crates/python/requirements-spark.txt
# It asks for older versions of what the others need, and works with these.
target/python/bin/pip install --quiet --disable-pip-version-check numba
target/python/bin/pip install --quiet --disable-pip-version-check --no-deps anonymeter
# In the profile of the tests, which has built most of it already.
target/python/bin/maturin build --quiet --locked --profile dev --manifest-path crates/python/Cargo.toml --out target/python/wheels
target/python/bin/pip install --quiet --disable-pip-version-check target/python/wheels/bosket-*.whl
target/python/bin/python -m pytest --quiet crates/python/tests

# The pages: the committed bundle is what their source gives, and a person's way through them in a browser.
cp crates/web/bundle/app.js target/app.js.committed
(cd crates/web/ui && npm ci --silent --no-audit --no-fund && npm run --silent check && npm run --silent build)
if ! cmp target/app.js.committed crates/web/bundle/app.js; then
    echo "error: crates/web/bundle is not what crates/web/ui gives; it is now: commit it" >&2
    exit 1
fi
if [ "$(wc -c <crates/web/bundle/app.js)" -gt 150000 ]; then
    echo "error: the bundle is larger than 150 KB" >&2
    exit 1
fi
cargo build -p bosket --locked
(cd crates/web/e2e && npm ci --silent --no-audit --no-fund && npm test --silent)
