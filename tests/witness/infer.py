"""XLA as witness of shape inference: the cases of tests/unit/infer_cases.txt, which the C tests hold against Indim.

Then random instructions, right and wrong, through both: INDIM_RANDOM of them (default 3000), INDIM_SEED to repeat a run.

XLA's text parser infers the shapes that the text leaves out; its compiler refuses what does not fit. What the casebook
accepts, XLA must infer alike; what it refuses, XLA must refuse, by an error or by aborting. The refusals marked "!~" are
where XLA accepts, or where it cannot be asked because it compiles no program with that op: there a refusal by its parser
would show that the mark is wrong.
"""

import ctypes
import os
import random
import re
import sys
from pathlib import Path

from _xla import Aborted, Refused, Xla

CASES = Path(__file__).parents[1] / "unit" / "infer_cases.txt"


def read_cases():
    head, body = CASES.read_text().split("\n---\n")
    prologue = "\n".join(line for line in head.split("\n") if not line.startswith("#"))
    for line in body.split("\n"):
        if line.strip() and not line.startswith("#") and "PAD(" not in line:  # XLA no longer has padded layouts
            yield prologue, *(part.strip() for part in (" " + line).split(" | "))


def module_text(prologue, operands, instruction):
    parameters = "".join(
        f"  p{i} = {shape.strip()} parameter({i})\n" for i, shape in enumerate(operands.split("; ")) if shape.strip()
    )
    *before, root = instruction.split(";;")
    lines = "".join(f"  {line.strip()}\n" for line in before)
    return f"HloModule m\n{prologue}\nENTRY e {{\n{parameters}{lines}  ROOT result = {root.strip()}\n}}\n"


def op_of(instruction):
    return re.search(r"(?:^|\s)([a-z][a-z0-9-]*)\(", instruction.split(";;")[-1]).group(1)


def root_shape(printed):
    entry = printed[printed.index("ENTRY ") :]
    root = entry[entry.index("ROOT result = ") + len("ROOT result = ") :]
    depth = 0
    for i, c in enumerate(root):
        depth += (c in "([{") - (c in ")]}")
        if c == " " and depth == 0:
            return root[:i]
    raise ValueError(printed)


def refusal(xla, question, text):
    """Why XLA refuses, or None."""
    try:
        xla.ask(question, text)
    except (Refused, Aborted) as error:
        return str(error)
    return None


def inferred_shape(xla, text):
    try:
        return root_shape(xla.ask("parse", text))
    except (Refused, Aborted) as error:
        return str(error)


# Indim, through its shared library -----------------------------------------------------------------------------------


class Str(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("cx", ctypes.c_void_p),
        ("data", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("status", ctypes.c_int),
    ]


class Indim:
    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["INDIM_LIB"])
        for name in ("entry", "root", "shape"):
            function = {"entry": "indim_module_entry", "root": "indim_computation_root", "shape": "indim_instr_shape"}[name]
            call = getattr(self.lib, function)
            call.restype, call.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        self.lib.indim_module_parse.argtypes = [ctypes.c_void_p, Str, Str, ctypes.c_void_p]
        self.lib.indim_module_verify.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.lib.indim_module_destroy.argtypes = [ctypes.c_void_p]
        self.lib.indim_ctx_destroy.argtypes = [ctypes.c_void_p]
        self.lib.indim_ctx_diagnostic_get.restype = ctypes.c_void_p
        self.lib.indim_ctx_diagnostic_get.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.lib.indim_diagnostic_print.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        self.lib.indim_shape_print.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p]

    def print(self, cx, write):
        buffer = Buffer()
        self.lib.indim_buffer_init(ctypes.byref(buffer), cx)
        write(ctypes.byref(buffer))
        text = (buffer.data or b"").decode()
        self.lib.indim_buffer_deinit(ctypes.byref(buffer))
        return text

    def infer(self, text):
        """The root's shape, or None and the diagnostic."""
        lib, cx, module = self.lib, ctypes.c_void_p(), ctypes.c_void_p()
        assert lib.indim_ctx_create(None, ctypes.byref(cx)) == 0
        data = text.encode()
        status = lib.indim_module_parse(cx, Str(b"", 0), Str(data, len(data)), ctypes.byref(module))
        if status == 0:
            status = lib.indim_module_verify(cx, module)
        if status == 0:
            shape = lib.indim_instr_shape(lib.indim_computation_root(lib.indim_module_entry(module)))
            answer = self.print(cx, lambda out: lib.indim_shape_print(shape, True, out)), None
        else:
            diagnostic = lib.indim_ctx_diagnostic_get(cx, 0)
            answer = None, self.print(cx, lambda out: lib.indim_diagnostic_print(diagnostic, out))
        lib.indim_module_destroy(module)
        lib.indim_ctx_destroy(cx)
        return answer


# Random instructions -------------------------------------------------------------------------------------------------


class Maker:
    """Makes (operands, instruction): mostly right, so that every rule is reached, with one thing changed now and then."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def sizes(self, rank=None):
        rank = self.random.randrange(4) if rank is None else rank
        return [self.random.choice([0, 1, 1, 2, 2, 3, 4, 5]) for _ in range(rank)]

    def shape(self, sizes, type="f32"):
        order = list(range(len(sizes)))
        if self.random.random() < 0.5:
            self.random.shuffle(order)
        else:
            order.reverse()
        layout = "{" + ",".join(map(str, order)) + "}" if sizes else ""
        return f"{type}[{','.join(map(str, sizes))}]{layout}"

    def slip(self, numbers):
        """The list, at times with one entry changed, one more or one less."""
        numbers = list(numbers)
        if self.random.random() < 0.25:
            kind = self.random.randrange(3)
            if kind == 0 and numbers:
                numbers[self.random.randrange(len(numbers))] += self.random.choice([-1, 1])
            elif kind == 1:
                numbers.insert(self.random.randrange(len(numbers) + 1), self.random.randrange(3))
            elif numbers:
                numbers.pop(self.random.randrange(len(numbers)))
        return numbers

    def list(self, numbers):
        return "{" + ",".join(map(str, self.slip(numbers))) + "}"

    def some(self, rank):
        return sorted(self.random.sample(range(rank), self.random.randrange(rank + 1)))

    def window(self, sizes):
        def field(name, low, high):
            return name + "=" + "x".join(str(self.random.randint(low, high)) for _ in sizes)

        parts = [field("size", 1, 3)]
        if self.random.random() < 0.5:
            parts.append(field("stride", 0 if self.random.random() < 0.1 else 1, 3))
        if self.random.random() < 0.5:
            pads = (f"{self.random.randint(0, 2)}_{self.random.randint(0, 2)}" for _ in sizes)
            parts.append("pad=" + "x".join(pads))
        if self.random.random() < 0.3:
            parts.append(field("lhs_dilate", 1, 3))
        if self.random.random() < 0.3:
            parts.append(field("rhs_dilate", 1, 2))
        return "{" + " ".join(parts) + "}"

    def make(self):
        makers = [getattr(self, name) for name in dir(self) if name.startswith("make_")]
        return self.random.choice(makers)()

    def make_binary(self):
        sizes = self.sizes()
        type = self.random.choice(["f32", "s32", "pred", "c64", "u8", "bf16"])
        # Sizes of 1 against others are left to the casebook: XLA's parser, not its compiler, stretches them.
        other = self.slip(sizes) if 1 not in sizes else sizes
        other = sizes if 1 in other else other
        op = self.random.choice(["add", "multiply", "subtract", "divide", "power", "and", "xor"])
        return [self.shape(sizes, type), self.shape([max(size, 0) for size in other], type)], f"{op}(p0, p1)"

    def make_transpose(self):
        sizes = self.sizes()
        order = list(range(len(sizes)))
        self.random.shuffle(order)
        return [self.shape(sizes)], f"transpose(p0), dimensions={self.list(order)}"

    def make_reverse(self):
        sizes = self.sizes()
        return [self.shape(sizes)], f"reverse(p0), dimensions={self.list(self.some(len(sizes)))}"

    def make_reduce(self):
        sizes = self.sizes()
        return [self.shape(sizes), "f32[]"], f"reduce(p0, p1), dimensions={self.list(self.some(len(sizes)))}, to_apply=add"

    def make_reduce_window(self):
        sizes = self.sizes()
        window = self.window(self.slip(sizes))
        return [self.shape(sizes), "f32[]"], f"reduce-window(p0, p1), window={window}, to_apply=add"

    def make_concatenate(self):
        sizes = self.sizes(self.random.randint(1, 3))
        dim = self.random.randrange(len(sizes))
        parts = []
        for _ in range(self.random.randint(1, 3)):
            part = list(sizes)
            part[dim] = self.random.randrange(4)
            parts.append(self.shape([max(size, 0) for size in self.slip(part)]))
        names = ", ".join(f"p{i}" for i in range(len(parts)))
        return parts, f"concatenate({names}), dimensions={self.list([dim])}"

    def make_pad(self):
        sizes = self.sizes(self.random.randint(1, 3))
        interior = self.random.random() < 0.5
        padding = "x".join(
            f"{self.random.randint(-2, 2)}_{self.random.randint(-2, 2)}" + (f"_{self.random.randint(0, 2)}" if interior else "")
            for _ in self.slip(sizes)
        )
        return [self.shape(sizes), "f32[]"], f"pad(p0, p1), padding={padding or '0_0'}"

    def make_dot(self):
        batch, left, right, inner = (self.sizes(self.random.randrange(3)) for _ in range(4))
        lhs = [("b", i) for i in range(len(batch))] + [("k", i) for i in range(len(inner))] + [("l", i) for i in range(len(left))]
        rhs = [("b", i) for i in range(len(batch))] + [("k", i) for i in range(len(inner))] + [("r", i) for i in range(len(right))]
        self.random.shuffle(lhs)
        self.random.shuffle(rhs)
        size = {"b": batch, "k": inner, "l": left, "r": right}
        place = lambda side, kind, n: [side.index((kind, i)) for i in range(n)]  # noqa: E731
        attributes = (
            f"lhs_batch_dims={self.list(place(lhs, 'b', len(batch)))}, lhs_contracting_dims={self.list(place(lhs, 'k', len(inner)))}, "
            f"rhs_batch_dims={self.list(place(rhs, 'b', len(batch)))}, rhs_contracting_dims={self.list(place(rhs, 'k', len(inner)))}"
        )
        return [self.shape([size[kind][i] for kind, i in side]) for side in (lhs, rhs)], f"dot(p0, p1), {attributes}"

    def make_convolution(self):
        spatial = self.random.randrange(3)
        groups, batch_groups = self.random.choice([(1, 1), (1, 1), (2, 1), (1, 2)])
        features = self.random.randint(1, 2)
        size = {"b": 2 * batch_groups, "f": features * groups, "i": features, "o": self.random.randint(1, 2) * groups * batch_groups}
        window = [self.random.randint(1, 3) for _ in range(spatial)]
        labels, shapes = [], []
        for part, letters in enumerate(("bf", "io", "bf")):
            order = list(letters) + list(range(spatial))
            self.random.shuffle(order)
            labels.append("".join(map(str, order)))
            sizes = [size[c] if isinstance(c, str) else window[c] if part == 1 else self.random.randrange(6) for c in order]
            shapes.append(self.shape([max(n, 0) for n in (self.slip(sizes) if self.random.random() < 0.3 else sizes)]))
        text = self.window(window)
        if spatial:
            text = re.sub(r"size=[0-9x]*", "size=" + "x".join(map(str, window)), text)
        else:
            text = "{}"
        return shapes[:2], (
            f"convolution(p0, p1), window={text}, dim_labels={labels[0]}_{labels[1]}->{labels[2]}, "
            f"feature_group_count={groups}, batch_group_count={batch_groups}"
        )

    def index_parts(self):
        """Sizes and lists that gather and scatter share."""
        operand = self.sizes(self.random.randint(1, 4))
        rank = len(operand)
        dims = list(range(rank))
        self.random.shuffle(dims)
        batching = sorted(dims[: self.random.randrange(2)])
        rest = [d for d in dims if d not in batching]
        collapsed = sorted(self.random.sample(rest, self.random.randrange(len(rest) + 1)))
        mapped = self.random.sample(rest, self.random.randrange(len(rest) + 1))
        batch = [operand[d] for d in batching] + self.sizes(self.random.randrange(2))
        vector_dim = self.random.randrange(len(batch) + 1)
        indices = batch[:vector_dim] + [len(mapped)] + batch[vector_dim:]
        indices_batching = [i if i < vector_dim else i + 1 for i in range(len(batching))]
        window = [d for d in range(rank) if d not in batching and d not in collapsed]
        places = sorted(self.random.sample(range(len(batch) + len(window)), len(window)))
        return operand, batching, collapsed, mapped, batch, vector_dim, indices, indices_batching, window, places

    def make_gather(self):
        operand, batching, collapsed, mapped, _, vector_dim, indices, indices_batching, _, places = self.index_parts()
        sizes = [
            min(1, n) if d in collapsed or d in batching else self.random.randint(0, n) for d, n in enumerate(operand)
        ]
        return [self.shape(operand), self.shape(indices, "s32")], (
            f"gather(p0, p1), offset_dims={self.list(places)}, collapsed_slice_dims={self.list(collapsed)}, "
            f"start_index_map={self.list(mapped)}, operand_batching_dims={self.list(batching)}, "
            f"start_indices_batching_dims={self.list(indices_batching)}, index_vector_dim={vector_dim}, "
            f"slice_sizes={self.list(sizes)}"
        )

    def make_scatter(self):
        operand, batching, collapsed, mapped, batch, vector_dim, indices, indices_batching, window, places = self.index_parts()
        updates, from_window, from_batch = [], iter(window), iter(batch)
        for i in range(len(batch) + len(window)):
            updates.append(self.random.randint(0, operand[next(from_window)]) if i in places else next(from_batch))
        updates = [max(n, 0) for n in (self.slip(updates) if self.random.random() < 0.4 else updates)]
        return [self.shape(operand), self.shape(indices, "s32"), self.shape(updates)], (
            f"scatter(p0, p1, p2), update_window_dims={self.list(places)}, inserted_window_dims={self.list(collapsed)}, "
            f"scatter_dims_to_operand_dims={self.list(mapped)}, input_batching_dims={self.list(batching)}, "
            f"scatter_indices_batching_dims={self.list(indices_batching)}, index_vector_dim={vector_dim}, to_apply=add"
        )

    def make_topk(self):
        sizes = self.sizes(self.random.randint(1, 3))
        return [self.shape(sizes)], f"topk(p0), k={max(self.slip([self.random.randint(0, sizes[-1])]) or [0])}"

    def make_fft(self):
        sizes = self.sizes(self.random.randint(1, 3))
        kind = self.random.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
        type = self.random.choice(["f32" if kind == "RFFT" else "c64"] * 4 + ["s32"])
        lengths = sizes[-self.random.randint(1, len(sizes)) :]
        if kind == "IRFFT":
            lengths[-1] = max(0, 2 * (lengths[-1] - 1))
        # XLA lets a negative length through where the array is empty.
        lengths = ",".join(str(max(0, n)) for n in self.slip(lengths))
        return [self.shape(sizes, type)], f"fft(p0), fft_type={kind}, fft_length={{{lengths}}}"

    def make_batch_norm(self):
        sizes = self.sizes(self.random.randint(1, 3))
        dim = self.random.randrange(len(sizes))
        vectors = [self.shape([max(0, n) for n in self.slip([sizes[dim]])]) for _ in range(2)]
        return [self.shape(sizes), *vectors], f"batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index={dim}"

    def make_triangular_solve(self):
        n, batch = self.random.randrange(4), self.sizes(self.random.randrange(2))
        left = self.random.choice(["true", "false"])
        b = [n, 2] if left == "true" else [2, n]
        shapes = [self.shape([max(0, m) for m in self.slip(batch + part)]) for part in ([n, n], b)]
        return shapes, f"triangular-solve(p0, p1), left_side={left}, transpose_a=NO_TRANSPOSE"


def check_random(xla, count, seed):
    """Every shape alike; what XLA refuses Indim refuses, and what Indim refuses XLA's parser or compiler."""
    indim, maker, wrong = Indim(), Maker(seed), []
    prologue = "add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }"
    counts = {"same shape": 0, "refused by both": 0}
    for _ in range(count):
        operands, instruction = maker.make()
        text = module_text(prologue, "; ".join(operands), instruction)
        ours, why = indim.infer(text)
        try:
            theirs = root_shape(xla.ask("parse", text))
        except (Refused, Aborted) as error:
            theirs, reason = None, str(error)
        if ours is not None and ours == theirs:
            counts["same shape"] += 1
        elif ours is None and (theirs is None or refusal(xla, "compile", text) is not None):
            counts["refused by both"] += 1
        else:
            wrong.append(f"{'; '.join(operands)} | {instruction}: Indim {ours or why}, XLA {theirs or reason}")
    print(f"random, seed {seed}: " + ", ".join(f"{number} {what}" for what, number in counts.items()))
    return count, wrong


def check_casebook(xla):
    wrong = []
    cases = list(read_cases())
    counts = dict.fromkeys(
        ("same shape", "refused by XLA's parser", "refused by its compiler", "accepted by XLA", "XLA cannot be asked", "XLA's is another"), 0
    )
    compiled = set()  # ops that XLA compiles when all is well; only of these does a refusal say anything
    for prologue, operands, instruction, expected in cases:
        if expected.startswith("!"):
            continue
        text = module_text(prologue, operands, instruction)
        shape = inferred_shape(xla, text)
        if expected.startswith("~"):  # XLA's differs, and has to, as long as this is said
            counts["XLA's is another"] += 1
            if shape == expected[1:].strip():
                wrong.append(f"{operands} | {instruction}: marked ~, but XLA gives {shape}, too")
            continue
        if shape != expected:
            wrong.append(f"{operands} | {instruction}: expected {expected}, XLA {shape}")
            continue
        counts["same shape"] += 1
        if op_of(instruction) not in compiled and refusal(xla, "compile", text) is None:
            compiled.add(op_of(instruction))
    for prologue, operands, instruction, expected in cases:
        if not expected.startswith("!"):
            continue
        text = module_text(prologue, operands, instruction)
        marked = expected.startswith("!~")
        parser = refusal(xla, "parse", text)
        compiler = refusal(xla, "compile", text) if parser is None else None
        if parser is not None:
            outcome, refused = "refused by XLA's parser", True
        elif compiler is None:
            outcome, refused = "accepted by XLA", False
        elif op_of(instruction) in compiled and "UNIMPLEMENTED" not in compiler:
            outcome, refused = "refused by its compiler", True
        else:
            outcome, refused = "XLA cannot be asked", False
        counts[outcome] += 1
        if refused == marked:
            wrong.append(f"{operands} | {instruction}: marked {expected[:2]}, but {outcome}: {parser or compiler}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    print(f"{len(compiled)} ops compiled by XLA")
    return len(cases), wrong


def main():
    xla = Xla()
    seed = int(os.environ.get("INDIM_SEED", "1"))
    cases, wrong = check_casebook(xla)
    made, also_wrong = check_random(xla, int(os.environ.get("INDIM_RANDOM", "3000")), seed)
    wrong += also_wrong
    for line in wrong:
        print(line[:600])
    print(f"{cases + made - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
