"""The peers of a row, each at its best, as objects with seconds(runs): the time of so many runs.

They are timed from Python, as they are used; what one empty call of each costs is row twice_square_10. Their memory is
recycled: run.py starts the process so that malloc gives freed pages back to the next result (see child_environment).
"""

import importlib.util
import re
import time

import numpy as np

CLOCK = time.perf_counter


def installed(name):
    return importlib.util.find_spec(name) is not None


class Timed:
    """A function of nothing, called in a loop. `results` gives its results as NumPy arrays after a run."""

    def __init__(self, call, results=None):
        self.call = call
        self.results = results

    def seconds(self, runs):
        call = self.call
        start = CLOCK()
        for _ in range(runs):
            call()
        return CLOCK() - start


# ------------------------------------------------------------------------------------------------------------ XLA


class Xla:
    """The row's JAX function, compiled by jax.jit; a donated argument is replaced by the result that took its buffer."""

    def __init__(self, row, args, peak):
        import jax

        from generate import jitted

        self.jax, self.row = jax, row
        self.args = [jax.device_put(np.array(a)) for a in args]
        self.function = jitted(row)
        lowered = self.function.lower(*self.args)
        # From the program to the first result, as ours is timed; tracing and lowering are not in it.
        first = [jax.device_put(np.array(a)) for a in args] if row.donate else self.args
        with peak:
            start = CLOCK()
            jax.block_until_ready(lowered.compile()(*first))
            self.compile_seconds = CLOCK() - start

    def leaves(self, out):
        return list(out) if isinstance(out, (tuple, list)) else [out]

    def once(self):
        out = self.leaves(self.function(*self.args))
        for argument, leaf in zip(self.row.donate, out):
            self.args[argument] = leaf
        return out

    def results(self):
        return [np.array(leaf) for leaf in self.once()]

    def seconds(self, runs):
        function, args, donate = self.function, self.args, self.row.donate
        start = CLOCK()
        if donate:
            for _ in range(runs):
                self.once()[-1].block_until_ready()
        elif isinstance(function(*args), tuple):
            start = CLOCK()
            for _ in range(runs):
                function(*args)[-1].block_until_ready()
        else:
            start = CLOCK()
            for _ in range(runs):
                function(*args).block_until_ready()
        return CLOCK() - start


class XlaText:
    """A program that JAX cannot say, compiled from its HLO text."""

    def __init__(self, text, args, peak):
        import jax
        from jaxlib import _hlo, _jax
        from jaxlib.xla_client import CompileOptions

        client = jax.devices("cpu")[0].client
        self.args = [jax.device_put(np.array(a)) for a in args]
        with peak:
            start = CLOCK()
            module = _hlo.hlo_module_from_text(text)
            computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
            stable = _jax.mlir.xla_computation_to_mlir_module(computation)
            self.program = client.compile_and_load(
                stable, _jax.DeviceList(tuple(client.devices()[:1])), CompileOptions()
            )
            self.program.execute(self.args)[-1].block_until_ready()
            self.compile_seconds = CLOCK() - start

    def results(self):
        return [np.array(leaf) for leaf in self.program.execute(self.args)]

    def seconds(self, runs):
        start = CLOCK()
        for _ in range(runs):
            self.program.execute(self.args)[-1].block_until_ready()
        return CLOCK() - start


# ---------------------------------------------------------------------------------------------- NumPy and numexpr


def numpy_peer(row, args, results):
    call = row.np(args, results)

    def first():
        out = call()
        return out if isinstance(out, list) else results

    return Timed(call, first)


def numexpr_peer(row, args, results, threads):
    import numexpr

    numexpr.set_num_threads(threads)
    names = {"abcdefgh"[i]: a for i, a in enumerate(args)}

    # A decimal number would be a double, and everything with it.
    def constant(found):
        name = f"k{len(names)}"
        names[name] = np.float32(float(found.group()))
        return name

    text = re.sub(r"\d+\.\d*", constant, row.ne)

    def first():
        numexpr.evaluate(text, local_dict=names, out=results[0], casting="same_kind")
        return results

    class Numexpr(Timed):
        def seconds(self, runs):
            first()
            again = numexpr.re_evaluate
            start = CLOCK()
            for _ in range(runs):
                again(local_dict=names)
            return CLOCK() - start

    first()
    return Numexpr(None, first)


# -------------------------------------------------------------------------------------------------------- PyTorch


def tensor(array):
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def arrays(out):
    import torch

    leaves = out if isinstance(out, (tuple, list)) else [out]
    return [np.array(leaf.float() if leaf.dtype == torch.bfloat16 else leaf) for leaf in leaves]


def torch_eager(row, args, results):
    import torch

    tensors = [tensor(a) for a in args]
    if row.tho:
        outs = [tensor(r) for r in results]
        call = row.tho(torch, tensors, outs)
        return Timed(call, lambda: (call(), arrays(tensors[: len(outs)] if row.donate else outs))[1])
    return Timed(lambda: row.th(*tensors), lambda: arrays(row.th(*tensors)))


def torch_compiled(row, args):
    import torch

    tensors = [tensor(a) for a in args]
    start = CLOCK()
    torch._dynamo.reset()
    function = torch.compile(row.th, dynamic=False)
    function(*tensors)
    peer = Timed(lambda: function(*tensors), lambda: arrays(function(*tensors)))
    peer.compile_seconds = CLOCK() - start
    return peer


# --------------------------------------------------------------------------------------------------------- oneDNN


def onednn_peer(row, args, results):
    from native import OneDnn

    sequence = OneDnn()
    row.dnn(sequence, args, results)
    sequence.results = lambda: (sequence.seconds(1), [r.copy() for r in results])[1]
    return sequence
