# SPDX-License-Identifier: Apache-2.0
"""For tests that interrupt a command: its standard error is a terminal, so that it tells how far it has come."""
import os
import pty
import re
import select
import subprocess
import tempfile

import pytest

from patience import HUNG_S

# One figure at least is measured.
A_FIGURE = r"[1-9]\d* of \d+"


class OnTerminal:
    def __init__(self, command, **options):
        self.terminal, end = pty.openpty()
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.errors = ""
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=self.output, stderr=end, **options)
        os.close(end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.terminal)
        self.output.close()

    def read(self):
        """More of what it says; nothing at its end."""
        if not select.select([self.terminal], [], [], HUNG_S)[0]:
            pytest.fail(f"it hangs after: {self.errors}")
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError:  # the other end is closed
            data = b""
        self.errors += data.decode("utf-8", "replace")
        return data

    def wait_for(self, pattern):
        while not re.search(pattern, self.errors):
            if not self.read():
                pytest.fail(f"it ended before '{pattern}': {self.errors}")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        """Waits for it; returns its exit status, its output and what it said on the terminal, as lines."""
        while self.read():
            pass
        status = self.process.wait(HUNG_S)
        self.output.seek(0)
        return status, self.output.read(), [line for line in self.errors.splitlines() if line.strip()]
