#!/usr/bin/env bash
# Makes the virtual environment DIR with PYTHON, or keeps the one that is there and works.
# Usage: tools/make_venv.sh PYTHON DIR
set -euo pipefail
python=$1
venv=$2

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
fail() { printf '%s\n' "$@" >&2; exit 1; }

if is_recent "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi
command -v "$python" >/dev/null || fail "No $python was found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3 ..."
is_recent "$python" || fail "$("$python" --version 2>&1) is too old: Crane Workbench needs Python 3.11 or newer." \
    "Name a newer one: make PYTHON=python3.11 ..."
"$python" -c 'import ensurepip, venv' 2>/dev/null || fail "$python cannot make virtual environments: its venv module is not installed." \
    "On Debian and Ubuntu: apt-get install python3-venv"
if ! "$python" -m venv --clear "$venv"; then
    rm -rf "$venv"
    fail "The virtual environment $venv could not be made; the lines above say why."
fi
