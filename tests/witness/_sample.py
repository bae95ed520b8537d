"""Which of the cases run that are compared with XLA, whose compiler takes most of their time: all, or with INDIM_TEST_PART=K/N
in the environment every Nth from the Kth on. `./dev check` takes a sixth, another one for each commit."""

import os


def sampled(cases):
    first, step = (int(number) for number in os.environ.get("INDIM_TEST_PART", "0/1").split("/"))
    return list(cases)[first % step :: step]
