"""What comes from others: hashes of packages, a list of them with licences, and that no file of ours holds a secret."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.house.test_architecture import requirements
from tools import licences, secret_scan


def test_a_package_with_another_hash_is_refused(tmp_path: Path) -> None:
    package = tmp_path / "thing-1.0-py3-none-any.whl"
    package.write_bytes(b"PK\x05\x06" + bytes(18))
    pins = tmp_path / "pins.txt"
    pins.write_text(
        f"thing==1.0 --hash=sha256:{hashlib.sha256(b'other').hexdigest()}\n"
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-index",
        f"--find{'-'}links",
        str(tmp_path),
    ]
    done = subprocess.run(
        [
            *command,
            "--dest",
            str(tmp_path / "out"),
            "--require-hashes",
            "-r",
            str(pins),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_a_key_is_found_and_a_known_digest_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_scan, "ROOT", tmp_path)
    (tmp_path / "planted.py").write_text(
        'KEY = "' + "AKIA" + "QWERTYUIOPASDFGH" + '"\n'
    )
    (tmp_path / "clean.py").write_text('NAME = "pandas"\n')
    [found] = secret_scan.found_in("planted.py")
    assert (found.file, found.line, found.kind) == (
        "planted.py",
        1,
        "AWS Access Key",
    )
    assert secret_scan.found_in("clean.py") == []


def test_known_false_findings_are_still_found() -> None:
    told = secret_scan.known()
    there = {
        file: {one.digest for one in secret_scan.found_in(file)}
        for file in told
    }
    assert told == there


def test_the_list_of_licences_names_what_is_installed(root: Path) -> None:
    names = {
        canonicalize_name(name)
        for name in licences.packages(root / "requirements.txt")
    }
    pinned = requirements("requirements.txt")
    assert names == {
        canonicalize_name(pin.name)
        for pin in pinned
        if pin.marker is None or pin.marker.evaluate()
    }


def test_the_bill_of_materials_lists_every_pin_with_its_hashes(
    root: Path, tmp_path: Path
) -> None:
    out = tmp_path / "sbom.json"
    program = Path(sys.executable).parent / "cyclonedx-py"
    command = [
        str(program),
        "requirements",
        "requirements.txt",
        "--output-format",
        "JSON",
        "--output-file",
        str(out),
    ]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    told = json.loads(out.read_text())
    assert told["bomFormat"] == "CycloneDX"
    assert {canonicalize_name(one["name"]) for one in told["components"]} == {
        canonicalize_name(pin.name) for pin in requirements("requirements.txt")
    }
    assert all(
        one["externalReferences"][0]["hashes"] for one in told["components"]
    )
