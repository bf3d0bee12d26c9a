#!/usr/bin/env bash
# Prints the path of a Chromium that starts, installing one where there is none. Needs PYTHON with playwright.
# Usage: tools/ensure_chromium.sh PYTHON
set -euo pipefail
python=$1

installed_chromium() {
    local name path
    for name in "${CRANE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
        path=$(command -v "${name:-none}" || true)
        # A transitional package leaves a stub of this name that cannot start.
        if [ -n "$path" ] && "$path" --version >/dev/null 2>&1; then
            printf '%s\n' "$path"
            return 0
        fi
    done
    return 1
}

playwright_chromium() {
    "$python" - <<'PY' 2>/dev/null
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    playwright.chromium.launch(args=["--no-sandbox", "--disable-dev-shm-usage"]).close()
    print(playwright.chromium.executable_path)
PY
}

installed_chromium && exit 0
playwright_chromium && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "No Chromium found: installing the Debian package." >&2
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >&2 || true
    installed_chromium && exit 0
fi
echo "No Chromium found: asking playwright for one." >&2
"$python" -m playwright install chromium >&2 || true
playwright_chromium && exit 0
cat >&2 <<'TEXT'
The browser tests need a Chromium and none could be installed here. Do one of these, then run make test again:
  as root on Debian or Ubuntu:   apt-get install chromium
  anywhere else:                 .venv/bin/python -m playwright install --with-deps chromium
  with a browser of your own:    CRANE_CHROMIUM=/path/to/chrome make test
TEXT
exit 1
