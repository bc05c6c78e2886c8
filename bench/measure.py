"""One command, and what it cost."""

import os
import subprocess
import threading
from dataclasses import dataclass


@dataclass
class Cost:
    # user and system time, with that of children it waited for
    cpu: float
    rss_mb: float
    exit: int
    timed_out: bool


def run(command, log, timeout):
    """Runs `command`, its output into the file `log`; after `timeout` seconds of wall clock it is killed."""
    with open(log, "wb") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    expired = threading.Event()

    def kill():
        expired.set()
        child.kill()

    timer = threading.Timer(timeout, kill)
    timer.start()
    try:
        _, status, usage = os.wait4(child.pid, 0)
    finally:
        timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    return Cost(
        cpu=usage.ru_utime + usage.ru_stime,
        rss_mb=usage.ru_maxrss / 1024,
        exit=child.returncode,
        timed_out=expired.is_set(),
    )
