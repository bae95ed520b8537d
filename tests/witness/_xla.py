"""XLA itself, in a process of its own: what it refuses may abort the process, which is then started anew.

    xla = Xla()
    xla.ask("parse", text)            XLA's own print of a module, names and constants in full; Refused or Aborted
    xla.ask("parse_shape", text)      the same for a shape
    xla.ask("compile", text)          None: XLA's verifier and compiler accept the module
    xla.ask("run", text, arguments)   the leaves of the program's result as NumPy arrays

The process runs XLA:CPU without fused multiply-add and without excess precision, so that its arithmetic differs from
strict IEEE arithmetic in as few ways as can be had.
"""

import multiprocessing
import os

FLAGS = "--xla_cpu_max_isa=AVX --xla_allow_excess_precision=false --xla_cpu_multi_thread_eigen=false"


class Refused(Exception):
    """XLA said no; the text is its message."""


class Aborted(Exception):
    """XLA ended the process."""


def _parse(text):
    from jaxlib import _hlo

    options = _hlo.HloPrintOptions.short_parsable()
    return _hlo.hlo_module_from_text(text).to_string(options)


def _parse_shape(text):
    from jaxlib import _hlo

    return str(_hlo.Shape(text))


def _compiled(text):
    import jax
    from jaxlib import _hlo, _jax
    from jaxlib.xla_client import CompileOptions

    client = jax.devices("cpu")[0].client
    module = _hlo.hlo_module_from_text(text)
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    devices = _jax.DeviceList(tuple(client.devices()[:1]))
    with jax.enable_x64(True):
        stable = _jax.mlir.xla_computation_to_mlir_module(computation)
        return client.compile_and_load(stable, devices, CompileOptions())


def _compile(text):
    _compiled(text)


def _run(text, arguments):
    import jax
    import numpy as np
    from jaxlib.cpu import _lapack

    _lapack.initialize()  # before a custom call of LAPACK's runs; else the process ends

    program = _compiled(text)
    with jax.enable_x64(True):
        return [
            [np.asarray(leaf) for leaf in program.execute([jax.device_put(np.asarray(a)) for a in one])]
            for one in arguments
        ]


def _serve(pipe):
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)  # XLA's last words when it aborts
    os.environ.update(XLA_FLAGS=FLAGS, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")
    functions = {"parse": _parse, "parse_shape": _parse_shape, "compile": _compile, "run": _run}
    while True:
        try:
            name, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(("ok", functions[name](*arguments)))
        except Exception as error:  # whatever XLA raises is its answer
            pipe.send(("refused", f"{type(error).__name__}: {error}"))


class Xla:
    def __init__(self):
        self.process = None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, name, *arguments, seconds=120):
        if self.process is None:
            self.start()
        try:
            self.pipe.send((name, arguments))
            if not self.pipe.poll(seconds):
                self.process.kill()
                raise EOFError
            outcome, value = self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join()
            self.process = None
            raise Aborted(f"XLA ended in {name}") from None
        if outcome == "refused":
            raise Refused(value)
        return value
