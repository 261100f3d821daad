"""Small works for engines to do, found by workers under this name."""

import os
import signal
import time

from fernn.errors import FernnError
from fernn.learners import Fernn


def shape(data, settings, seed):
    return {"cases": len(data), "mark": data.fingerprint, "name": data.name, "seed": seed, **settings}


def who(data, settings, seed):
    time.sleep(settings.get("seconds", 0.0))
    return os.getpid()


def deadly(data, settings, seed):
    """Kills its worker if it is the seed that does."""
    if seed == settings["deadly"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return seed


def wrong(data, settings, seed):
    if seed == 1:
        raise ZeroDivisionError("one over nothing")
    if seed == 2:
        raise FernnError("this will not do")
    return seed


def learns(data, settings, seed):
    """With whatever engine is chosen where it is done."""
    return str(Fernn(max_length=4, rounds=5, restarts=24, seed=3).fit(data).formula)


def shouting(data, settings, seed):
    os.write(1, b"a word from some library\n")
    return seed
