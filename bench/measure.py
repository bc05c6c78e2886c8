"""One command, and what it cost.

A process starts with the largest resident set of the one that started it on its account. So the command is started by
this file run as a program of its own, which imports next to nothing, and not by the whole benchmark.
"""

import os
import sys


def run(command, log, timeout, cpu=0):
    """Runs `command`, its output into the file `log`; after `timeout` seconds of wall clock it is killed.

    `cpu` seconds of processor time, if given, are the soft limit of the command and of each of its children."""
    import json
    import subprocess
    from types import SimpleNamespace

    starter = [sys.executable, "-I", "-S", __file__, str(log), str(timeout), str(cpu), *map(str, command)]
    done = subprocess.run(starter, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(done.stderr.strip().splitlines()[-1])
    return SimpleNamespace(**json.loads(done.stdout))


def main(log, timeout, cpu, *command):
    import signal

    if int(cpu):
        import resource

        # The hard limit leaves time to write the results.
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), 2 * int(cpu) + 60))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    to = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2), (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=to)
    expired = []

    def kill(*_):
        expired.append(True)
        os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    signal.setitimer(signal.ITIMER_REAL, float(timeout))
    _, status, usage = os.wait4(child, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    # user and system time and the largest resident set, with those of children it waited for
    cpu, rss = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    exit_code, timed_out = os.waitstatus_to_exitcode(status), str(bool(expired)).lower()
    print(f'{{"cpu": {cpu}, "rss_mb": {rss}, "exit": {exit_code}, "timed_out": {timed_out}}}')


if __name__ == "__main__":
    main(*sys.argv[1:])
