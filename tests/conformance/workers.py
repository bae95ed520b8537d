"""Harnesses in several processes, so that a crash or a hang is one failed row and not the end of the run.

    for row in rows(names, jobs, seconds): ...

A process tells the stage it is in (lower, xla, eval, native) before it starts it. One that ends or takes too long there
is replaced by a new one.
"""

import collections
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import time

STAGES = ("lower", "xla", "eval", "native")


def serve(pipe):
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)  # last words of who aborts
    import engines

    suite = engines.Suite()
    while (name := pipe.recv()) is not None:
        pipe.send(("row", suite.row(name, lambda stage: pipe.send(("stage", stage)))))


class Worker:
    def __init__(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def start(self, name):
        self.name, self.stage, self.since = name, "lower", time.monotonic()
        with contextlib.suppress(OSError):  # if the process is gone: answer() finds that out
            self.pipe.send(name)

    def stop(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


def failed_row(name, stage, why):
    """The row of a program whose process ended or was ended in |stage|."""
    return {"name": name, **dict.fromkeys(STAGES, {"outcome": "not run"}), stage: {"outcome": "crashed", "why": why}}


def rows(names, jobs, seconds):
    """The names' rows as they come. |seconds|: the most that a stage of one program may take."""
    waiting = collections.deque(names)
    workers = [Worker() for _ in range(min(jobs, len(waiting)))]
    for worker in workers:
        worker.start(waiting.popleft())
    try:
        while workers:
            ready = multiprocessing.connection.wait([w.pipe for w in workers], timeout=1)
            for worker in list(workers):
                row = answer(worker, worker.pipe in ready, seconds)
                if row is None:
                    continue
                yield row
                place = workers.index(worker)
                if row.pop("ended", False):
                    worker.stop()
                    workers[place] = worker = Worker()
                if waiting:
                    worker.start(waiting.popleft())
                else:
                    worker.stop()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.stop()


def answer(worker, is_ready, seconds):
    """What a worker has to tell: a row, or None while it is at work."""
    if not is_ready:
        if time.monotonic() - worker.since < seconds:
            return None
        return failed_row(worker.name, worker.stage, f"took longer than {seconds} s") | {"ended": True}
    try:
        kind, value = worker.pipe.recv()
    except (EOFError, ConnectionResetError):
        worker.process.join()
        return failed_row(worker.name, worker.stage, f"ended the process ({worker.process.exitcode})") | {"ended": True}
    if kind == "row":
        return value
    worker.stage, worker.since = value, time.monotonic()
    return None
