# SPDX-License-Identifier: Apache-2.0
"""How much of the machine others had while something was tried: what was stopped for them is no fault."""
import os
import resource
import time


def cpu_seconds():
    """What the whole machine has computed, and what the programs have that this one waited for."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, stolen = map(int, file.readline().split()[1:9])
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK"), own.ru_utime + own.ru_stime


class Others:
    """Begins to look; cores() tells how many others kept from the programs that this one waits for."""

    def __init__(self):
        self.begun, self.before = time.monotonic(), cpu_seconds()

    def cores(self):
        machine, own = (now - before for now, before in zip(cpu_seconds(), self.before))
        return (machine - own) / (time.monotonic() - self.begun)
