"""Run `make run` as a newcomer does, ask the app for its first page, and stop it. Standard library only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

PATIENCE_S = 900.0


def main() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = time.monotonic()
    with subprocess.Popen(
        ["make", "run", f"PORT={port}"], start_new_session=True
    ) as app:
        try:
            while not is_up(port):
                if (
                    app.poll() is not None
                    or time.monotonic() - started > PATIENCE_S
                ):
                    print(
                        f"make run: no app after {time.monotonic() - started:.0f} s",
                        file=sys.stderr,
                    )
                    return 1
                time.sleep(0.2)
            print(
                f"make run: the app answers after {time.monotonic() - started:.0f} s",
                flush=True,
            )
            return 0
        finally:
            if app.poll() is None:
                os.killpg(app.pid, signal.SIGTERM)


def is_up(port: int) -> bool:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/_stcore/health", timeout=5
        ) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    sys.exit(main())
