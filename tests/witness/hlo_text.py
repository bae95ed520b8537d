#!/usr/bin/env python3
"""Texts that must be accepted and texts that must be refused, by us and by XLA: the language's rules from outside.

    INDIM_BIN=build/dev/indim hlo_text.py [-v]

Four tables: MODULES and RULES for `indim check`, SHAPES for `indim shape`, LITERALS, which are tried as a constant in a
module and as an argument of `indim run`. A row says what the specification says of us (ACCEPT or REFUSE) and, where XLA
differs, what XLA does (its own parser in jaxlib is asked too, so that a wrong row shows). A refusal must come with exit
code 1 or 2 and a message; `indim check` must name file, line and column.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from _xla import Aborted, Refused, Xla

INDIM = os.environ.get("INDIM_BIN", "build/indim")
ACCEPT, REFUSE, ABORT, UNASKED = "accepts", "refuses", "aborts", None

ADD = "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
PAIR = "p = f32[2] parameter(0) q = f32[2] parameter(1) "


def entry(body, before=""):
    return before + "ENTRY e { " + body + " }\n"


def root(instruction, operands=PAIR, before=""):
    return entry(operands + "ROOT r = " + instruction, before)


NEGATE = "b { x = f32[] parameter(0) ROOT n = f32[] negate(x) }\n"


def conditional(index, branches):
    """A conditional whose branches all are b."""
    operands = f"c = {index} parameter(0) x = f32[] parameter(1) "
    return NEGATE + entry(operands + f"ROOT r = f32[] conditional(c, x, x), {branches}")


def window(text):
    zero = "f32[] constant(0)"
    return root(f"f32[1] reduce-window(p, {zero}), window={{{text}}}, to_apply=add", before=ADD)


def convolution(labels):
    return f"f32[1,3,3,1] convolution(f32[1,4,4,1] a, f32[2,2,1,1] b), window={{size=2x2}}, dim_labels={labels}"


def scatter(operands):
    numbers = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    return f"f32[10] scatter({operands}), {numbers}, to_apply=" + ADD[4:]


def header(attributes, body="ROOT p = f32[2]{0} parameter(0)"):
    return f"HloModule m, {attributes}\nENTRY e {{ {body} }}\n"


ONE = entry("ROOT c = f32[] constant(1)")
FRAMES = "HloModule m\nFileNames\nFunctionNames\nFileLocations\nStackFrames\n"

# id, text, what we do, what XLA does where that differs
MODULES = [
    # ---- lexical structure
    ("1.L1 one line", "HloModule m ENTRY e { ROOT c = f32[] constant(1) }", ACCEPT),
    ("1.L1 line ends", "HloModule m\r\n\r\nENTRY e {\r\tROOT c = f32[]\n constant(1)\r\n}\r\n", ACCEPT),
    ("1.L2 comments", "// a\nENTRY /*b*/ e /* c */ { ROOT c = f32[] /*d\n*/ constant( /*e*/ 1 ) } // end", ACCEPT),
    ("1.L2 unterminated", entry("ROOT c = f32[] constant(1)") + "/* and", REFUSE),
    ("1.L2 no nesting", entry("ROOT c = f32[] constant(1) /* /* */ */"), REFUSE),
    *[(f"1.L3 {c}", entry(f"ROOT c = f32[] constant(1) {c}"), REFUSE) for c in "<.!@&;$^|`\\"],
    ("1.L4 names", entry("x-y.z_1 = f32[] constant(1) ROOT get-tuple = f32[] negate(x-y.z_1)"), ACCEPT),
    ("1.L4 x=", entry("x=f32[] constant(1)"), REFUSE),
    ("1.L4 type names", entry("s1 = f32[] constant(1)"), REFUSE),
    ("1.L4 u4", entry("u4 = f32[] constant(1)"), REFUSE),
    ("1.L4 tuple and buffer", entry("tuple = f32[] constant(1) ROOT buffer = f32[] negate(tuple)"), ACCEPT),
    ("1.L4 keyword", entry("true = f32[] constant(1)"), REFUSE),
    ("1.L5 %x=", entry("%x=f32[] constant(1)"), ACCEPT),
    ("1.L5 keywords", entry("%ROOT = f32[] constant(1) ROOT %nan = f32[] negate(%ROOT)"), ACCEPT),
    ("1.L5 %type", entry("%f32 = f32[] constant(1)"), REFUSE),
    ("1.L5 lone %", entry("% x = f32[] constant(1)"), REFUSE),
    ("1.L6 largest", entry("ROOT c = u64[] constant(18446744073709551615)"), ACCEPT),
    ("1.L6 too large", entry("ROOT c = u64[] constant(18446744073709551616)"), REFUSE),
    ("1.L6 -inf", entry("ROOT c = f32[3] constant({-inf, inf, -nan})"), ACCEPT),
    ("1.L7 escapes", root(r"""f32[2] negate(p), metadata={op_name="\n\t\\\"\x41\101"}"""), ACCEPT),
    ("1.L7 single quotes", root("""f32[2] negate(p), metadata={op_name='a"b'}"""), ACCEPT),
    ("1.L7 line end inside", root('f32[2] negate(p), metadata={op_name="a\nb"}'), ACCEPT),
    ("1.L7 unknown escape", root(r"""f32[2] negate(p), metadata={op_name="\q"}"""), REFUSE),
    ("1.L7 unterminated", root('f32[2] negate(p), metadata={op_name="a}'), REFUSE),
    ("1.L8 JSON", root('f32[2] negate(p), backend_config={"a":{"b":"}"},"c":[1]}'), ACCEPT),
    ("1.L8 '}'", root("f32[2] negate(p), backend_config={'}'}"), REFUSE),
    ("1.L8 unbalanced", root('f32[2] negate(p), backend_config={"a":{'), REFUSE),
    # ---- grammar (2)
    ("2 (a)", "HloModule m\n" + entry("ROOT c = f32[] constant(1)"), ACCEPT),
    ("2 (b)", entry("ROOT c = f32[] constant(1)"), ACCEPT),
    ("2 (b) a name first", "e { ROOT c = f32[] constant(1) }", ACCEPT),
    ("2 (b) with a signature", "e () -> f32[] { ROOT c = f32[] constant(1) }", REFUSE),
    ("2 (c)", "f32[2] add(f32[2] p0, f32[2] p1)", ACCEPT),
    ("2 (c) named", "foo = add(f32[10], f32[10])", ACCEPT),
    ("2 (c) no name, no shape", "add(f32[2], f32[2])", ACCEPT, REFUSE),
    ("2 (c) nested", "f32[2] add(f32[2] negate(f32[2] p0), f32[2] p0)", ACCEPT),
    ("2 (c) operand without shape", "f32[2] add(p0, f32[2] p1)", REFUSE),
    ("2 (c) text left", "f32[2] add(f32[2] p0, f32[2] p1) f32[2]", REFUSE),
    ("2 header, single instruction", "HloModule m\nf32[2] add(f32[2] p0, f32[2] p1)", REFUSE),
    ("2 nothing", "", REFUSE),
    ("2 a header alone", "HloModule m", REFUSE),
    ("2 an opening alone", "ENTRY e {", REFUSE),
    ("2 the name twice", entry("a = f32[] constant(1) a = f32[] constant(2)"), REFUSE),
    ("2 the computation twice", ADD + ADD + entry("ROOT c = f32[] constant(1)"), REFUSE),
    ("2 shared name", entry("add = f32[] constant(1) ROOT s = f32[] call(add, add), to_apply=add", ADD), ACCEPT),
    ("2 nested operand", root("f32[2] add(f32[2] multiply(p, p), p)"), ACCEPT),
    ("2 nested operand, no shape", root("f32[2] add(multiply(p, p), p)"), ACCEPT),
    ("2 nested parameter", entry("ROOT s = f32[10] sqrt(f32[10] parameter(0))"), ACCEPT),
    ("2 nested constant", entry("ROOT s = f32[] sqrt(f32[] constant(2))"), ACCEPT),
    (
        "2 nested broadcast of a scalar",
        entry("z = f32[] constant(1) ROOT r = f32[2] negate(f32[2] broadcast(z))"),
        ACCEPT,
    ),
    ("2 nested broadcast", entry("z = f32[2] parameter(0) ROOT r = f32[2,2] negate(f32[2,2] broadcast(z))"), REFUSE),
    ("2 stray commas", root("f32[2] add(,p,,q,)"), ACCEPT),
    ("2 missing comma", root("f32[2] add(p q)"), REFUSE),
    ("2 forward reference", entry("a = f32[] negate(b) ROOT b = f32[] constant(1)"), REFUSE),
    ("2 unknown name", entry("ROOT a = f32[] negate(b)"), REFUSE),
    ("2 name of a computation", entry("ROOT a = f32[] negate(add)", ADD), REFUSE),
    ("2 unknown computation", root("f32[] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=nothing"), REFUSE),
    (
        "2 computation defined later",
        entry("c = f32[] constant(1) ROOT s = f32[] call(c, c), to_apply=add") + ADD,
        REFUSE,
    ),
    ("2 second ENTRY", entry("ROOT c = f32[] constant(1)") + "ENTRY f { ROOT c = f32[] constant(1) }", REFUSE),
    ("2 no ENTRY", "HloModule m\n" + ADD + "last { ROOT c = f32[] constant(1) }", ACCEPT),
    ("2 second ROOT", entry("ROOT a = f32[] constant(1) ROOT b = f32[] constant(2)"), REFUSE),
    ("2 no ROOT", entry("a = f32[] constant(1) b = f32[] constant(2)"), ACCEPT),
    ("2 unused", entry("a = f32[] constant(1) ROOT b = f32[] constant(2)", ADD), ACCEPT),
    ("2 empty body", entry(""), REFUSE),
    ("2 program shape", "ENTRY e (a: f32[2]) -> f32[2] { ROOT a = f32[2] parameter(0) }", ACCEPT),
    ("2 its parameters", "ENTRY e (z: s8[9,9]) -> f32[2] { ROOT a = f32[2] parameter(0) }", ACCEPT),
    ("2 its result", "ENTRY e (a: f32[2]) -> f32[3] { ROOT a = f32[2] parameter(0) }", REFUSE),
    ("2 its result, layout", "ENTRY e () -> f32[2,3]{0,1} { ROOT a = f32[2,3]{1,0} parameter(0) }", ACCEPT),
    ("2 parameter -1", entry("ROOT p = f32[] parameter(-1)"), REFUSE),
    ("2 parameter twice", entry("p = f32[] parameter(0) ROOT q = f32[] parameter(0)"), REFUSE),
    ("2 parameter gap", entry("p = f32[] parameter(0) ROOT q = f32[] parameter(2)"), REFUSE, ABORT),
    ("2 __ instruction", entry("ROOT __x = f32[] constant(1)"), REFUSE),
    ("2 __ computation", "ENTRY __x { ROOT c = f32[] constant(1) }", ACCEPT),
    ("2 operand shape", root("f32[2] add(f32[2] p, f32[2]{0} q)"), ACCEPT),
    ("2 operand shape contradicted", root("f32[2] add(f32[3] p, q)"), REFUSE),
    ("2 result shape contradicted", root("f32[3] negate(f32[2] p)"), REFUSE, ACCEPT),
    ("2 tuple, not a tuple shape", root("f32[2] tuple(p)"), REFUSE, ABORT),
    ("2 reshape, another count", root("f32[3] reshape(p)"), REFUSE, ABORT),
    ("2 partition-id s32[]", entry("ROOT i = s32[] partition-id()"), REFUSE, ABORT),
    ("2 member out of range", entry("t = (f32[]) parameter(0) ROOT g = get-tuple-element(t), index=1"), REFUSE, ABORT),
    ("2 execution_thread", 'ENTRY e { ROOT c = f32[] constant(1) }, execution_thread="main"', ACCEPT),
    # ---- module header (3)
    ("3 is_scheduled", header("is_scheduled=true"), ACCEPT),
    ("3 counts", header("replica_count=2, num_partitions=3"), ACCEPT),
    ("3 alias", header("input_output_alias={ {}: (0, {}, may-alias) }"), ACCEPT),
    ("3 alias without kind", header("input_output_alias={ {}: (0, {}) }"), ACCEPT),
    ("3 alias malformed", header("input_output_alias={ {: (0, {}) }"), REFUSE),
    ("3 alias MAY", header("input_output_alias={ {}: (0, {}, MAY_ALIAS) }"), REFUSE),
    ("3 donor", header("buffer_donor={ (0, {}) }"), ACCEPT),
    ("3 donor malformed", header("buffer_donor={ (0, 1) }"), REFUSE),
    ("3 passthrough", header("alias_passthrough_params=true"), ACCEPT),
    ("3 layout", header("entry_computation_layout={(f32[2]{0})->f32[2]{0}}"), ACCEPT),
    ("3 frontend attributes", header('frontend_attributes={a="b",c.d={"e":1}}'), ACCEPT),
    ("3 sharding propagation", header("allow_spmd_sharding_propagation_to_parameters={true}"), ACCEPT),
    ("3 sharding propagation to output", header("allow_spmd_sharding_propagation_to_output=true"), ACCEPT),
    ("3 repeated", header("replica_count=1, replica_count=1"), REFUSE),
    ("3 not a boolean", header("is_scheduled=1"), REFUSE),
    (
        "3 frame sections",
        'HloModule m\n\nFileNames\n1 "a.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
        "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=2 end_column=3}\n\nStackFrames\n"
        "1 {file_location_id=1 parent_frame_id=1}\n\n\n"
        "ENTRY e { ROOT c = f32[] constant(1), metadata={stack_frame_id=1} }",
        ACCEPT,
    ),
    ("3 empty frame sections", FRAMES + ONE, ACCEPT),
    ("3 a frame section left out", FRAMES.replace("FileNames\n", "", 1) + ONE, REFUSE),
    # ---- attributes of every instruction (5, 6)
    ("5 sharding", root("f32[2] negate(p), sharding={replicated}"), ACCEPT),
    ("5 frontend_attributes", root('f32[2] negate(p), frontend_attributes={a="b"}'), ACCEPT),
    ("5 statistics", root("f32[2] negate(p), statistics={visualizing_index=1,a=1.5,b=2}"), ACCEPT),
    ("5 replication", entry("ROOT p = f32[2] parameter(0), parameter_replication={true}"), ACCEPT),
    (
        "5 replication of another length",
        entry("ROOT p = f32[2] parameter(0), parameter_replication={true,false}"),
        REFUSE,
    ),
    (
        "5 replication of the leaves",
        entry("ROOT p = (f32[2],(s8[])) parameter(0), parameter_replication={true,false}"),
        ACCEPT,
    ),
    (
        "5 control-predecessors",
        entry("a = f32[] constant(1) ROOT b = f32[] constant(2), control-predecessors={a}"),
        ACCEPT,
    ),
    ("5 control-predecessors unknown", entry("ROOT b = f32[] constant(2), control-predecessors={a}"), REFUSE),
    ("5 control-predecessors empty", entry("ROOT b = f32[] constant(2), control-predecessors={}"), REFUSE),
    ("5 backend_config string", root('f32[2] negate(p), backend_config="abc"'), ACCEPT),
    ("5 backend_config dictionary", root("f32[2] negate(p), backend_config={uplo = 76 : ui8}"), ACCEPT),
    ("5 unknown attribute", root("f32[2] negate(p), colour=3"), REFUSE),
    ("5 repeated attribute", root("f32[2] broadcast(f32[] constant(1)), dimensions={}, dimensions={}"), REFUSE),
    ("5 wrong kind", root("f32[2] reverse(p), dimensions=0"), REFUSE),
    ("5 missing attribute", root("f32[2] reverse(p)"), REFUSE),
    ("5 another op's attribute", root("f32[2] negate(p), dimensions={0}"), REFUSE),
    ("6.1 boolean 1", entry("p = f32[2] parameter(0) ROOT r = f32[2] cholesky(p), lower=1"), REFUSE),
    ("6.2 trailing comma", root("f32[2] reverse(p), dimensions={0,}"), REFUSE),
    ("6.2 inline computation", root("f32[] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=" + ADD[4:]), ACCEPT),
    (
        "6.4 metadata",
        root('f32[2] negate(p), metadata={op_type="t" op_name="n" source_file="f" source_line=3 stack_frame_id=0}'),
        ACCEPT,
    ),
    ("6.4 metadata with commas", root('f32[2] negate(p), metadata={op_type="t", op_name="n"}'), ACCEPT),
    ("6.4 metadata, trailing comma", root('f32[2] negate(p), metadata={op_type="t",}'), REFUSE),
    ("6.4 metadata, a number for a string", root('f32[2] negate(p), metadata={op_name=3}'), REFUSE),
    ("6.4 metadata, a string for a number", root('f32[2] negate(p), metadata={source_line="a"}'), REFUSE),
    ("6.4 metadata, twice", root('f32[2] negate(p), metadata={op_type="t" op_type="t"}'), REFUSE),
    *[
        (f"6.5 sharding={text}", root(f"f32[2] negate(p), sharding={text}"), ACCEPT)
        for text in (
            "{manual}",
            "{unknown}",
            "{maximal device=1}",
            "{devices=[2]0,1}",
            "{devices=[2]<=[2]}",
            "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
            "{devices=[2,2]<=[4] last_tile_dims={replicated}}",
        )
    ],
    ("6.5 sharding of a tuple", root("(f32[2],f32[2]) tuple(p, q), sharding={{replicated}, {manual}}"), ACCEPT),
    # ---- ops (8)
    ("8 unknown op", root("f32[2] plus(p, q)"), REFUSE),
    *[(f"8 {op}", root(f"f32[2] {op}(p)"), REFUSE) for op in ("all-reduce-update", "copy-update")],
    ("8 too few operands", root("f32[2] add(p)"), REFUSE),
    ("8 too many operands", root("f32[2] negate(p, q)"), REFUSE),
    ("8 shape left out", root("add(p, q)"), ACCEPT),
    ("8 shape must be stated", entry("ROOT c = constant(1)"), REFUSE),
    ("8 shape must be stated, reshape", root("reshape(p)"), REFUSE),
    ("8 shape must be stated, convert", root("convert(p)"), REFUSE),
    (
        "8.2 implicit broadcast",
        entry("p = f32[2,1] parameter(0) q = f32[1,3] parameter(1) ROOT r = f32[2,3] add(p, q)"),
        REFUSE,
        ACCEPT,
    ),
    (
        "8.2 implicit broadcast, no shape",
        entry("p = f32[2,1] parameter(0) q = f32[1,3] parameter(1) ROOT r = add(p, q)"),
        REFUSE,
        ACCEPT,
    ),
    ("8.2 compare", root("pred[2] compare(p, q), direction=LT"), ACCEPT),
    ("8.2 compare TOTALORDER", root("pred[2] compare(p, q), direction=LT, type=TOTALORDER"), ACCEPT),
    ("8.2 compare direction missing", root("pred[2] compare(p, q)"), REFUSE),
    ("8.2 compare direction unknown", root("pred[2] compare(p, q), direction=lt"), REFUSE),
    ("8.2 compare floats SIGNED", root("pred[2] compare(p, q), direction=LT, type=SIGNED"), REFUSE, ACCEPT),
    ("8.2 select by a scalar", entry("c = pred[] parameter(2) " + PAIR + "ROOT r = f32[2] select(c, p, q)"), ACCEPT),
    ("8.2 clamp by scalars", entry("c = f32[] parameter(2) " + PAIR + "ROOT r = f32[2] clamp(c, p, c)"), ACCEPT),
    ("8.3 slice", root("f32[1] slice(p), slice={[0:1]}"), ACCEPT),
    ("8.3 slice with a step", root("f32[1] slice(p), slice={[0:2:2]}"), ACCEPT),
    ("8.3 slice past the end", root("f32[2] slice(p), slice={[1:3]}"), REFUSE, ACCEPT),
    ("8.3 slice of two dimensions", root("f32[1] slice(p), slice={[0:1], [0:1]}"), REFUSE, ACCEPT),
    ("8.3 pad", root("f32[3] pad(p, f32[] constant(0)), padding=-1_2"), ACCEPT),
    ("8.3 pad interior", root("f32[3] pad(p, f32[] constant(0)), padding=0_0_1"), ACCEPT),
    ("8.3 pad like a window", root("f32[3] pad(p, f32[] constant(0)), padding=1x1"), REFUSE),
    ("8.3 transpose", entry("p = f32[2,3] parameter(0) ROOT t = f32[3,2] transpose(p), dimensions={1,0}"), ACCEPT),
    (
        "8.3 transpose not a permutation",
        entry("p = f32[2,3] parameter(0) ROOT t = f32[3,2] transpose(p), dimensions={1,1}"),
        REFUSE,
        UNASKED,
    ),
    ("8.3 broadcast of a scalar", root("f32[2] broadcast(f32[] constant(1))"), ACCEPT),
    (
        "8.3 broadcast that stretches",
        entry("p = f32[1] parameter(0) ROOT r = f32[2] broadcast(p), dimensions={0}"),
        REFUSE,
        UNASKED,
    ),
    (
        "8.3 broadcast that transposes",
        entry("p = f32[2,2] parameter(0) ROOT r = f32[2,2] broadcast(p), dimensions={1,0}"),
        ACCEPT,
    ),
    ("8.3 concatenate", root("f32[4] concatenate(p, q), dimensions={0}"), ACCEPT),
    ("8.3 concatenate along two", root("f32[4] concatenate(p, q), dimensions={0,0}"), REFUSE),
    ("8.3 iota of a scalar", entry("ROOT i = s32[] iota(), iota_dimension=0"), REFUSE, UNASKED),
    ("8.4 reduce, odd", root("f32[] reduce(p), dimensions={0}, to_apply=add", before=ADD), REFUSE),
    ("8.4 window", window("size=2 stride=1 pad=0_0"), ACCEPT),
    ("8.4 window field of another length", window("size=2 stride=1x1"), REFUSE),
    ("8.4 window without size", window("stride=1"), REFUSE),
    ("8.4 window with commas", window("size=2, stride=1"), REFUSE),
    ("8.4 window field twice", window("size=2 size=2"), REFUSE),
    ("8.5 dim_labels", convolution("b01f_01io->b01f"), ACCEPT),
    ("8.5 dim_labels repeated", convolution("b00f_01io->b01f"), REFUSE),
    ("8.5 dim_labels count", convolution("b01f_0io->b01f"), REFUSE),
    ("8.6 scatter, even", scatter("f32[10] z, s32[3] ids"), REFUSE),
    ("8.7 conditional by pred", conditional("pred[]", "true_computation=b, false_computation=b"), ACCEPT),
    ("8.7 conditional by s32", conditional("s32[]", "branch_computations={b, b}"), ACCEPT),
    ("8.7 conditional by pred, branches", conditional("pred[]", "branch_computations={b, b}"), REFUSE),
    ("8.7 conditional by u8", conditional("u8[]", "branch_computations={b, b}"), REFUSE),
    ("8.7 conditional by an array", conditional("s32[1]", "branch_computations={b, b}"), REFUSE),
    ("8.7 conditional, branch count", conditional("s32[]", "branch_computations={b}"), REFUSE),
    (
        "8.8 custom-call",
        root('f32[2] custom-call(p), custom_call_target="t", api_version=API_VERSION_TYPED_FFI'),
        ACCEPT,
    ),
    (
        "8.8 custom-call, version",
        root('f32[2] custom-call(p), custom_call_target="t", api_version=API_VERSION_NEW'),
        REFUSE,
    ),
    (
        "8.8 custom-call, constraints",
        root('f32[2] custom-call(p), custom_call_target="t", operand_layout_constraints={f32[2]{0}, f32[2]{0}}'),
        REFUSE,
    ),
    ("8.8 infeed", entry("t = token[] after-all() ROOT i = ((f32[2]), token[]) infeed(t)"), ACCEPT),
    ("8.1 result_accuracy", root("f32[2] exponential(p), result_accuracy={mode=highest}"), ACCEPT),
    ("8.1 result_accuracy in capitals", root("f32[2] exponential(p), result_accuracy={mode=HIGHEST}"), ACCEPT),
    ("8.1 result_accuracy, trailing comma", root("f32[2] exponential(p), result_accuracy={mode=highest,}"), REFUSE),
    ("8.1 result_accuracy misspelled", root("f32[2] exponential(p), result_accuracy={mode=hihest}"), REFUSE),
    ("8.1 result_accuracy of negate", root("f32[2] negate(p), result_accuracy={mode=highest}"), REFUSE),
    ("8 send-start", root("f32[2] send-start(p)"), REFUSE),
    ("8.3 dynamic-reshape of nothing", entry("ROOT r = f32[<=2] dynamic-reshape()"), REFUSE),
    (
        "8.4 scan along two",
        root("(f32[2]) scan(p, q), dimensions={0,1}, num_carries=1, to_apply=add", before=ADD),
        REFUSE,
    ),
    ("8.8 infeed of an array", entry("t = token[] after-all() ROOT i = f32[2] infeed(t)"), REFUSE),
    ("8.10 all-reduce", root("f32[2] all-reduce(p), replica_groups={{0}}, to_apply=add", before=ADD), ACCEPT),
    (
        "8.10 global ids without a channel",
        root("f32[2] all-reduce(p), replica_groups={{0}}, use_global_device_ids=true, to_apply=add", before=ADD),
        REFUSE,
    ),
    # ---- sample modules (12)
    ("12.S1", "ENTRY e { ROOT c = f32[2] constant({1, 2}) }", ACCEPT),
    (
        "12.S2",
        "HloModule t\n%add (a: f32[], b: f32[]) -> f32[] {\n"
        "%a = f32[] parameter(0) %b = f32[] parameter(1) ROOT %s = f32[] add(%a, %b) }\n"
        "ENTRY %m (p: f32[2,3]) -> f32[2] {\n"
        '%p = f32[2,3]{1,0} parameter(0), sharding={replicated}, metadata={op_name="x" source_line=3}\n'
        "zero = f32[] constant(0)\n"
        'ROOT %r = f32[2] reduce(%p, zero), dimensions={1}, to_apply=%add, backend_config={"k":"v"} }\n',
        ACCEPT,
    ),
    (
        "12.S3",
        "HloModule w\nENTRY m { i = s32[] constant(0) ROOT r = s32[] while(i),\n"
        "condition={ x = s32[] parameter(0) n = s32[] constant(10) ROOT c = pred[] compare(x, n), direction=LT },\n"
        "body={ x = s32[] parameter(0) o = s32[] constant(2) ROOT s = s32[] add(x, o) } }",
        ACCEPT,
    ),
    (
        "12.S4",
        "HloModule k\nENTRY m { p = f32[1,4,4,1] parameter(0)\n"
        "w = f32[2,2,1,1] constant({{{{1}},{{0}}},{{{0}},{{1}}}})\n"
        "c = f32[1,3,3,1] convolution(p, w), window={size=2x2}, dim_labels=b01f_01io->b01f z = s32[] constant(1)\n"
        "ROOT d = f32[1,3,3,1] add(c, c) }",
        ACCEPT,
    ),
    (
        "12.S5",
        header(
            "input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (0, {}) }",
            "p = f32[2]{0} parameter(0) ROOT t = (f32[2]{0}) tuple(p)",
        ),
        ACCEPT,
    ),
    ("12 operands with shapes", entry("x = f32[] parameter(0) ROOT r = f32[] add(f32[] x, f32[] x)"), ACCEPT),
    *[
        (f"12 constant {payload}", entry(f"ROOT c = {shape} constant({payload})"), ACCEPT)
        for shape, payload in (
            ("f32[]", "inf"),
            ("f32[]", "-inf"),
            ("f32[]", "nan"),
            ("f32[]", "-nan(0x1)"),
            ("pred[]", "true"),
        )
    ],
    ("12 dynamic shapes", entry("p = f32[<=10] parameter(0) ROOT q = f32[?] parameter(1)"), ACCEPT),
    ("12 tuple constant", entry("ROOT c = (f32[], s32[2]) constant((1, {2, 3}))"), ACCEPT),
    ("12 layout of another length", entry("ROOT c = f32[2,3]{0} parameter(0)"), REFUSE),
    ("12 {...} below level 1", entry("ROOT c = f32[2,2] constant({{...},{1,2}})"), REFUSE),
    ("12 elided constant", entry("ROOT c = f32[67,89] constant({...})"), ACCEPT),
    ("12 an elided tuple", entry("ROOT c = (f32[], s32[2]) constant({...})"), REFUSE),
    # ---- what JAX writes (20)
    (
        "20 argmax",
        """HloModule a
am { v0 = f32[] parameter(0) i0 = s32[] parameter(1) v1 = f32[] parameter(2) i1 = s32[] parameter(3)
  g = pred[] compare(v0, v1), direction=GE v = f32[] select(g, v0, v1) i = s32[] select(g, i0, i1)
  ROOT t = (f32[], s32[]) tuple(v, i) }
ENTRY e { x = f32[2,3] parameter(0) ni = f32[] constant(-inf) zi = s32[] constant(0)
  io = s32[2,3] iota(), iota_dimension=1
  ROOT am2 = (f32[2], s32[2]) reduce(x, io, ni, zi), dimensions={1}, to_apply=am }""",
        ACCEPT,
    ),
    (
        "20 gather",
        "f32[3,4] gather(f32[10,4] t, s32[3] ids), offset_dims={1}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
        ACCEPT,
    ),
    ("20 scatter", scatter("f32[10] z, s32[3] ids, f32[3] u"), ACCEPT),
    (
        "20 sort",
        "(s32[4], s32[4]) sort(s32[4] k, s32[4] i), dimensions={0}, is_stable=true, to_apply={\n"
        "a0 = s32[] parameter(0) b0 = s32[] parameter(1) a1 = s32[] parameter(2) b1 = s32[] parameter(3)\n"
        "ROOT g = pred[] compare(a0, b0), direction=GT }",
        ACCEPT,
    ),
]

BODY = "body { x = s32[] parameter(0) o = s32[] constant(1) ROOT s = s32[] add(x, o) }\n"
CONDITION = "condition { x = s32[] parameter(0) n = s32[] constant(5) ROOT c = pred[] compare(x, n), direction=LT }\n"
MATRICES = "p = f32[2,3] parameter(0) q = f32[3,4] parameter(1) "
INDEXED = "p = f32[4,5] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) u = f32[2,2] parameter(3) "
TABLE = "p = f32[10,4] parameter(0) i = s32[3] parameter(1) "
NUMBERS = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"


def sort(dimension, compared):
    parameters = "a = s32[] parameter(0) b = s32[] parameter(1)"
    return f"s32[4] sort(s32[4] k), dimensions={{{dimension}}}, to_apply={{ {parameters} ROOT g = {compared} }}"


# id, text, what we do: rules of shapes and of computations, which XLA's compiler knows
RULES = [
    ("4 broadcast", root("f32[3,2] broadcast(p), dimensions={1}"), ACCEPT),
    ("4 broadcast, another size", root("f32[3,4] broadcast(p), dimensions={1}"), REFUSE),
    ("4 broadcast, out of range", root("f32[3,2] broadcast(p), dimensions={2}"), REFUSE),
    ("4 broadcast, too many", root("f32[3,2] broadcast(p), dimensions={0,1}"), REFUSE),
    ("4 broadcast, another type", root("s32[3,2] broadcast(p), dimensions={1}"), REFUSE),
    ("4 add, another type", root("s32[2] add(p, q)"), REFUSE),
    ("4 add of two types", entry("p = f32[2] parameter(0) q = s32[2] parameter(1) ROOT r = f32[2] add(p, q)"), REFUSE),
    (
        "4 add of two ranks",
        entry("p = f32[2,3] parameter(0) q = f32[3] parameter(1) ROOT r = f32[2,3] add(p, q)"),
        REFUSE,
    ),
    ("4 not of floats", root("f32[2] not(p)"), REFUSE),
    ("4 and of floats", root("f32[2] and(p, q)"), REFUSE),
    ("4 is-finite", root("pred[2] is-finite(p)"), ACCEPT),
    ("4 is-finite of integers", entry("p = s32[2] parameter(0) ROOT r = pred[2] is-finite(p)"), REFUSE),
    ("4 complex", root("c64[2] complex(p, q)"), ACCEPT),
    ("4 complex of integers", entry("p = s32[2] parameter(0) ROOT r = c64[2] complex(p, p)"), REFUSE),
    ("4 select", entry("c = pred[2] parameter(2) " + PAIR + "ROOT r = f32[2] select(c, p, q)"), ACCEPT),
    ("4 select by integers", entry("c = s32[2] parameter(2) " + PAIR + "ROOT r = f32[2] select(c, p, q)"), REFUSE),
    ("4 select by another size", entry("c = pred[3] parameter(2) " + PAIR + "ROOT r = f32[2] select(c, p, q)"), REFUSE),
    ("4 clamp, another size", entry("c = f32[3] parameter(2) " + PAIR + "ROOT r = f32[2] clamp(c, p, q)"), REFUSE),
    ("4 compare gives pred", root("f32[2] compare(p, q), direction=LT"), REFUSE),
    ("4 convert", root("s8[2] convert(p)"), ACCEPT),
    ("4 convert, another size", root("s8[3] convert(p)"), REFUSE),
    ("3.6 bitcast-convert", root("u8[2,4] bitcast-convert(p)"), ACCEPT),
    ("3.6 bitcast-convert, another dimension", root("u8[2,2] bitcast-convert(p)"), REFUSE),
    (
        "4 transpose, another size",
        entry("p = f32[2,3] parameter(0) ROOT t = f32[2,3] transpose(p), dimensions={1,0}"),
        REFUSE,
    ),
    ("4 transpose, too few", entry("p = f32[2,3] parameter(0) ROOT t = f32[3,2] transpose(p), dimensions={1}"), REFUSE),
    ("4 reverse, out of range", root("f32[2] reverse(p), dimensions={1}"), REFUSE),
    ("4 reverse, twice", root("f32[2] reverse(p), dimensions={0,0}"), REFUSE),
    ("4 slice, backwards", root("f32[0] slice(p), slice={[2:1]}"), REFUSE),
    ("4 slice, step 0", root("f32[1] slice(p), slice={[0:1:0]}"), REFUSE),
    ("4 slice, another size", root("f32[2] slice(p), slice={[0:1]}"), REFUSE),
    ("4 concatenate, another size", root("f32[5] concatenate(p, q), dimensions={0}"), REFUSE),
    (
        "4 concatenate, other dimensions",
        entry(MATRICES + "ROOT r = f32[5,3] concatenate(p, q), dimensions={0}"),
        REFUSE,
    ),
    ("4 concatenate, out of range", root("f32[4] concatenate(p, q), dimensions={1}"), REFUSE),
    ("4 pad, too few", entry(MATRICES + "z = f32[] constant(0) ROOT r = f32[2,3] pad(p, z), padding=0_0"), REFUSE),
    ("4 pad, below 0", root("f32[0] pad(p, f32[] constant(0)), padding=-2_-1"), REFUSE),
    ("4 pad by an array", root("f32[3] pad(p, q), padding=0_1"), REFUSE),
    ("4 iota out of range", entry("ROOT i = s32[3] iota(), iota_dimension=1"), REFUSE),
    ("4 iota of pred", entry("ROOT i = pred[3] iota(), iota_dimension=0"), REFUSE),
    ("4 dynamic-slice", entry(INDEXED + "ROOT r = f32[2,2] dynamic-slice(p, i, j), dynamic_slice_sizes={2,2}"), ACCEPT),
    (
        "4 dynamic-slice, too large",
        entry(INDEXED + "ROOT r = f32[2,6] dynamic-slice(p, i, j), dynamic_slice_sizes={2,6}"),
        REFUSE,
    ),
    ("4 dynamic-slice by a float", root("f32[1] dynamic-slice(p, f32[] constant(0)), dynamic_slice_sizes={1}"), REFUSE),
    ("4 dynamic-update-slice", entry(INDEXED + "ROOT r = f32[4,5] dynamic-update-slice(p, u, i, j)"), ACCEPT),
    (
        "4 dynamic-update-slice, too large",
        entry(INDEXED + "ROOT r = f32[2,2] dynamic-update-slice(u, p, i, j)"),
        REFUSE,
    ),
    (
        "4 dot",
        entry(MATRICES + "ROOT r = f32[2,4] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ACCEPT,
    ),
    (
        "4 dot, sizes",
        entry(MATRICES + "ROOT r = f32[3,4] dot(p, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        REFUSE,
    ),
    (
        "4 dot, counts",
        entry(MATRICES + "ROOT r = f32[4] dot(p, q), lhs_contracting_dims={0,1}, rhs_contracting_dims={0}"),
        REFUSE,
    ),
    (
        "4 dot, twice",
        entry(MATRICES + "ROOT r = f32[2] dot(p, q), lhs_contracting_dims={1,1}, rhs_contracting_dims={0,0}"),
        REFUSE,
    ),
    (
        "4 dot, result",
        entry(MATRICES + "ROOT r = f32[4,2] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        REFUSE,
    ),
    ("4 reduce", root("f32[] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=add", before=ADD), ACCEPT),
    (
        "4 reduce, out of range",
        root("f32[] reduce(p, f32[] constant(0)), dimensions={1}, to_apply=add", before=ADD),
        REFUSE,
    ),
    ("4 reduce, twice", root("f32[] reduce(p, f32[] constant(0)), dimensions={0,0}, to_apply=add", before=ADD), REFUSE),
    ("4 reduce, result", root("f32[2] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=add", before=ADD), REFUSE),
    (
        "4 reduce, another type",
        root("f32[] reduce(p, s32[] constant(0)), dimensions={0}, to_apply=add", before=ADD),
        REFUSE,
    ),
    ("4 reduce from an array", root("f32[] reduce(p, q), dimensions={0}, to_apply=add", before=ADD), REFUSE),
    (
        "4 reduce by one parameter",
        root("f32[] reduce(p, f32[] constant(0)), dimensions={0}, to_apply=b", before=NEGATE),
        REFUSE,
    ),
    ("4 map", root("f32[2] map(p, q), dimensions={0}, to_apply=add", before=ADD), ACCEPT),
    ("4 map, arity", root("f32[2] map(p), dimensions={0}, to_apply=add", before=ADD), REFUSE),
    (
        "4 while",
        BODY + CONDITION + entry("i = s32[] constant(0) ROOT w = s32[] while(i), condition=condition, body=body"),
        ACCEPT,
    ),
    (
        "4 while, condition",
        BODY + entry("i = s32[] constant(0) ROOT w = s32[] while(i), condition=body, body=body"),
        REFUSE,
    ),
    (
        "4 while, body",
        CONDITION + entry("i = s32[] constant(0) ROOT w = s32[] while(i), condition=condition, body=condition"),
        REFUSE,
    ),
    (
        "4 while, start",
        BODY + CONDITION + entry("i = f32[] constant(0) ROOT w = f32[] while(i), condition=condition, body=body"),
        REFUSE,
    ),
    ("4 conditional", conditional("pred[]", "true_computation=b, false_computation=b"), ACCEPT),
    ("4 conditional, branch", ADD + conditional("pred[]", "true_computation=b, false_computation=add"), REFUSE),
    (
        "4 conditional, branch's parameter",
        BODY + conditional("pred[]", "true_computation=b, false_computation=body"),
        REFUSE,
    ),
    ("4 call", root("f32[] call(f32[] constant(1), f32[] constant(2)), to_apply=add", before=ADD), ACCEPT),
    ("4 call, arity", root("f32[] call(f32[] constant(1)), to_apply=add", before=ADD), REFUSE),
    ("4 call, argument", root("f32[] call(p, q), to_apply=add", before=ADD), REFUSE),
    ("4 call, result", root("f32[2] call(f32[] constant(1), f32[] constant(2)), to_apply=add", before=ADD), REFUSE),
    (
        "4 get-tuple-element",
        entry("t = (f32[], s32[2]) parameter(0) ROOT g = s32[2] get-tuple-element(t), index=1"),
        ACCEPT,
    ),
    (
        "4 get-tuple-element, shape",
        entry("t = (f32[], s32[2]) parameter(0) ROOT g = f32[] get-tuple-element(t), index=1"),
        REFUSE,
    ),
    ("4 get-tuple-element of an array", root("f32[] get-tuple-element(p), index=0"), REFUSE),
    ("4 gather", entry(TABLE + f"ROOT g = f32[3,4] gather(p, i), {NUMBERS}, slice_sizes={{1,4}}"), ACCEPT),
    (
        "4 gather, slice too large",
        entry(TABLE + f"ROOT g = f32[3,5] gather(p, i), {NUMBERS}, slice_sizes={{1,5}}"),
        REFUSE,
    ),
    (
        "4 gather, collapsed slice",
        entry(TABLE + f"ROOT g = f32[3,4] gather(p, i), {NUMBERS}, slice_sizes={{2,4}}"),
        REFUSE,
    ),
    (
        "4 gather by floats",
        entry(TABLE.replace("s32", "f32") + f"ROOT g = f32[3,4] gather(p, i), {NUMBERS}, slice_sizes={{1,4}}"),
        REFUSE,
    ),
    ("4 scatter", scatter("f32[10] z, s32[3] ids, f32[3] u"), ACCEPT),
    ("4 scatter, updates", scatter("f32[10] z, s32[3] ids, f32[4] u"), REFUSE),
    ("4 convolution", convolution("b01f_01io->b01f"), ACCEPT),
    ("4 convolution, features", convolution("b01f_01io->b01f").replace("f32[2,2,1,1]", "f32[2,2,3,1]"), REFUSE),
    ("4 convolution, window", convolution("b01f_01io->b01f").replace("size=2x2", "size=3x2"), REFUSE, UNASKED),
    ("4 reduce-window", window("size=2 stride=1 pad=0_0"), ACCEPT),
    ("4 reduce-window, result", window("size=2 stride=1 pad=1_0"), REFUSE),
    (
        "4 sort",
        sort(0, "pred[] compare(a, b), direction=LT"),
        ACCEPT,
    ),
    (
        "4 sort, out of range",
        sort(1, "pred[] compare(a, b), direction=LT"),
        REFUSE,
    ),
    (
        "4 sort, comparator",
        sort(0, "s32[] add(a, b)"),
        REFUSE,
    ),
    ("4 fft", "c64[8] fft(c64[8] x), fft_type=FFT, fft_length={8}", ACCEPT),
    ("4 fft of reals", "f32[8] fft(f32[8] x), fft_type=FFT, fft_length={8}", REFUSE),
    ("4 rfft, result", "c64[8] fft(f32[8] x), fft_type=RFFT, fft_length={8}", REFUSE),
    ("4 cholesky", "f32[3,3] cholesky(f32[3,3] x), lower=true", ACCEPT),
    ("4 cholesky, not square", "f32[3,2] cholesky(f32[3,2] x), lower=true", REFUSE),
    ("4 reduce-precision, no exponent", root("f32[2] reduce-precision(p), exponent_bits=0, mantissa_bits=3"), REFUSE),
]

# id, text, what `indim shape` does, what XLA does where that differs
SHAPES = [
    *[
        (case, text, ACCEPT)
        for case, text in (
            ("S01", "f32[123,456]"),
            ("S02", "f32[?,784]"),
            ("S03", "f32[123,<=456]"),
            ("S04", "(f32[42], u32[<=123,<=456])"),
            ("S05", "(f32[1572864],s8[5120,1024])"),
            ("S06", "(f32[1],(f32[2], token[]), opaque[], f32[3])"),
            ("S07", "()"),
            ("S08", "b(s32[3,4]{1,0})"),
            ("S09", "f32[123,456]{0,1}"),
            ("S13", "f32[2, /*c*/ 3]"),
            ("S14", " f32 [ 2 , 3 ] { 1 , 0 } "),
            ("S17", "f32[<= 3]"),
            ("S17", "f32[<=0]"),
            ("S17", "f32[?]"),
            ("S17", "f32[0]"),
            ("S18", "b(s32[3,4])"),
            ("S18", "b (f32[2])"),
            ("S20", "opaque[]"),
            ("S20", "token[]"),
            ("S21", "f32[]{:T(256)}"),
            ("S24", "(opaque[], f32[], u32[1,2]{1,0}, s32[3,4]{0,1})"),
            ("S27", "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"),
            ("2.7 comment", "f32[2 // two\n]"),
            ("1.1 six bits", "(f6e3m2fn[2], f6e2m3fn[2])"),
            ("Y02", "f32[2,3,4]{1,2,0}"),
            ("Y03", "f32[2,3,4,5]{3,2,1,0:T(42,123)(4,5)}"),
            ("Y04", "f32[2,3,4,5]{3,2,1,0:T(*,*,42,123)}"),
            ("Y05", "f32[2,3,4,5]{3,2,1,0:L(100)}"),
            ("Y05", "f32[2,3,4,5]{3,2,1,0:E(42)}"),
            ("Y05", "f32[2,3,4,5]{3,2,1,0:S(3)}"),
            ("Y06", "f32[8,8]{0,1:SC(0:3)(1:0,4)}"),
            ("Y08", "f32[2,3]{0,1:M(123)}"),
            ("Y09", "f32[2,3,4,5]{3,2,1,0:T(42,123)(4,5)L(100)E(42)}"),
            ("Y11", "f32[123,456]{0,1:T(2,128)}"),
            ("Y12", "f32[123,456,789]{0,1,2:T(2, * , 128)}"),
            ("Y13", "bf16[123,456,789]{2,1,0:T(2,*,128)(2,1)}"),
            ("Y14", "s4[123,456]{1,0:T(2,128)E(4)}"),
            ("Y14", "pred[123,456]{1,0:T(2,128)S(3)}"),
            ("Y14", "pred[123,456]{1,0:S(3)}"),
            ("Y15", "f32[123,456]{1,0:T(16,128)M(1024)}"),
            ("Y16", "pred[123,456]{1,0:T(2,128)S(3)SC(1:200)}"),
            ("Y16", "pred[123,456]{1,0:S(3)SC(0:10)(1:4,5)}"),
            ("Y16", "pred[123,456]{1,0:SC(1:50,200)}"),
            ("Y18", "f32[2,3,4]{0,1,2:T(512,1024)}"),
            ("Y18", "bf16[2,3,4]{1,2,0:T(16,256)(2,1)}"),
            ("Y19", "pred[8,8,8]{0,2,1:T(8,128)E(32)}"),
            ("3.3 {1,0:}", "f32[2,3]{1,0:}"),
            ("3.3 dim levels", "f32[2,3]{1,0:D(D,D)}"),
        )
    ],
    *[
        (case, text, REFUSE)
        for case, text in (
            ("S10", "f32[123,456]foobar{0,1}"),
            ("S10", "f32[123,456]{foo}"),
            ("S10", "f32[123,456]dense{foo}"),
            ("S11", "F32[2]"),
            ("S11", "f32"),
            ("S11", "f32[-1]"),
            ("S11", "f32[2,]"),
            ("S11", "(f32[2],)"),
            ("S11", "tuple[]"),
            ("S11", "g32[]"),
            ("S11", "f32[2]{}"),
            ("S12", "f32[123,456,789]{1:T(2, * , 128)}"),
            ("S17", "f32[2x3]"),
            ("S17", "f32[1_2]"),
            ("S17", "f32[<=?]"),
            ("S17", "f32[<=-1]"),
            ("S17", "f32[18446744073709551615]"),
            ("S18", "b()"),
            ("S18", "b(f32[2],f32[3])"),
            ("S18", "b(token[])"),
            ("S18", "b((f32[]))"),
            ("S18", "b(b(f32[2]))"),
            ("Y07", "s32[10,20]{0,1:P(s32[10,20]{1,0})}"),
            ("Y17", "f32[2,3]{1,0:S(3)T(2,128)}"),
            ("Y17", "f32[2,3]{1,0:E(4)T(2)}"),
            ("Y17", "f32[2,3]{1,0,}"),
            ("Y17", "f32[2,3]{1,0:E()}"),
            ("Y17", "f32[2,3]{1,0:S 3}"),
            ("Y17", "f32[2,3]{1,0 :T(2,128)"),
            ("2.7 nothing", ""),
            ("2.7 text left", "f32[2] f32[3]"),
            ("2.7 unterminated comment", "f32[2 /* ]"),
        )
    ],
    ("S15", "token[2]", REFUSE, ABORT),
    ("S15", "opaque[3]", REFUSE, ABORT),
    ("S15", "f32[2,3]{1,0:L(0)}", REFUSE, ABORT),
    ("S15", "f32[2,3]{0,0}", REFUSE, ACCEPT),
    ("S15", "f32[2,3]{5,4}", REFUSE, ACCEPT),
    ("Y46", "f32[2,3]{0,2}", REFUSE, ACCEPT),
    ("Y46", "f32[2,3]{1,0:T(0,2)}", REFUSE, ACCEPT),
    ("Y46", "f32[2,3]{1,0:#(u32)}", REFUSE, ACCEPT),
    ("Y46", "f32[2,3]{1,0:E(-1)}", REFUSE, ACCEPT),
    ("3.3 tile -2", "f32[2,3]{1,0:T(-2)}", REFUSE, ABORT),
    ("3.3 empty tile", "f32[2,3]{1,0:T()}", REFUSE, ACCEPT),
    *[
        ("3.3 quirk", f"f32[123,456]{layout}", REFUSE, ACCEPT)
        for layout in ("{1,0:T(2,128}", "{1,0:S(3}", "{1,0:T(2,128S(3)}", "{1,0:#(f32)}")
    ],
    # The seed's padding, which XLA does not have.
    ("Y60", "f32[2,3]{0,1:PAD(3,5;zero)}", ACCEPT, REFUSE),
    ("Y64", "f32[2,3]{1,0:PAD(2,3;one)}", ACCEPT, REFUSE),
    ("Y64", "f32[2,3]{1,0:PAD(3;zero)}", REFUSE),
    ("Y64", "f32[2,3]{1,0:PAD(3,5,1;zero)}", REFUSE),
    ("Y64", "f32[2,3]{1,0:PAD(1,5;zero)}", REFUSE),
    ("3.2 padding value", "f32[2,3]{1,0:PAD(3,5;nine)}", REFUSE),
    *[("3.2 padding value", f"f32[2,3]{{1,0:PAD(3,5;{v})}}", ACCEPT, REFUSE) for v in ("lowest", "highest", "unknown")],
]

# id, shape, body, what we do, what XLA does where that differs
LITERALS = [
    ("L01", "u1[]", "1", ACCEPT),
    ("L01", "s1[]", "-1", ACCEPT),
    ("L03", "c64[]", "(3.14, 2.78)", ACCEPT),
    ("L29", "f32[2]", "5", REFUSE, ACCEPT),
    ("L29", "f32[1,1]", "5", REFUSE, ACCEPT),
    ("L29", "f32[1,1]", "{5}", REFUSE),
    ("L29", "f32[0]", "1", REFUSE),
    ("L29", "c64[1]", "(1,2)", REFUSE),
    ("L29", "f32[]", "{1}", REFUSE),
    ("L29", "f32[]", "1 2", REFUSE),
    ("L30", "pred[]", "true", ACCEPT),
    ("L30", "s32[]", "-42", ACCEPT),
    ("L30", "f32[]", "3e+2", ACCEPT),
    ("L31", "f32[2,3]", "}{1, 2, 3}, {4, 5, 6}}", REFUSE),
    ("L32", "f32[2]", "{1,{2}}", REFUSE),
    ("L33", "f32[2,3]", "{1, 2, 3, 4, 5, 6}", REFUSE),
    ("L34", "f32[2,3,2]", "{{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}}", REFUSE),
    ("L35", "f16[]", "-65520", REFUSE),
    ("L35", "bf16[]", "-65505", ACCEPT),
    ("L35", "bf16[]", "1e100", REFUSE),
    ("L35", "f64[]", "1.8e308", REFUSE),
    ("L35", "f64[]", "-1.8e308", REFUSE),
    ("L36", "u4[]", "-1", REFUSE),
    ("L36", "u4[]", "16", REFUSE),
    ("L36", "s4[]", "-9", REFUSE),
    ("L36", "s4[]", "8", REFUSE),
    ("L36", "u4[]", "15", ACCEPT),
    ("L36", "s4[]", "-8", ACCEPT),
    ("L36", "u32[]", "4294967296", REFUSE),
    ("L37", "u64[]", "-1", ACCEPT),
    ("L37", "u64[]", "9223372036854775808", ACCEPT),
    ("L38", "c64[]", "(1e100, 0)", REFUSE),
    ("L38", "c64[]", "(0, -1e100)", REFUSE),
    ("L39", "bf16[2]", "{-nan, -nan}", ACCEPT),
    ("L40", "f32[]", "nan(0x1)", ACCEPT),
    ("L40", "bf16[]", "nan(0x3ff)", REFUSE),
    ("L40", "f8e4m3fn[]", "nan(0x1)", REFUSE),
    ("L40", "f32[]", "nan(0x0)", REFUSE),
    ("L41", "f32[67,89]", "{...}", ACCEPT),
    ("L41", "f32[2,2]", "{{1,2},...}", ACCEPT),
    ("L41", "f32[2]", "{...,1}", REFUSE),
    ("L41", "f32[2]", "...", REFUSE),
    ("L41", "(f32[],f32[2])", "(1, {...})", ACCEPT),
    ("L42", "s32[]", "1.5", REFUSE),
    ("L42", "s32[2]", "{1}", REFUSE),
    ("L42", "s32[2]", "{1, 2, 3}", REFUSE),
    ("L43", "f32[2]", "{1 2}", ACCEPT),
    ("L43", "f32[2]", "{,1,,2,}", ACCEPT),
    ("L44", "f32[2,2]", "{ /*x*/ {1, 2}, {3, 4} }", ACCEPT),
    ("L45", "()", "()", ACCEPT),
    ("L45", "(f32[],(s32[]))", "(1, (2))", ACCEPT),
    ("5.3 trailing comma in a tuple", "(f32[])", "(1,)", REFUSE),
    ("L46", "f32[]", ".5", REFUSE),
    ("L46", "f32[]", "+1", REFUSE),
    ("L46", "f32[]", "0x10", REFUSE),
    ("L46", "f32[]", "5.", ACCEPT),
    ("L46", "f32[]", "-.5", ACCEPT),
    ("L46", "f8e4m3fn[]", "448", ACCEPT),
    ("L46", "f8e4m3fn[]", "500", REFUSE),
    ("L46", "f4e2m1fn[]", "7", ACCEPT),
    ("L46", "pred[]", "2", ACCEPT),
    ("L47", "f32[]", "-0", ACCEPT),
    ("L47", "s32[]", "true", REFUSE, ABORT),
    ("L47", "token[]", "token", REFUSE, ABORT),
    ("L47", "opaque[]", "1", REFUSE, ABORT),
    ("L48", "c64[]", "(3.40282347e+38, -3.40282347e+38)", ACCEPT, REFUSE),
    ("L49", "f8e8m0fnu[]", "3", ACCEPT),
    ("L49", "f8e8m0fnu[]", "1e-39", ACCEPT),
    ("L49", "f8e8m0fnu[]", "0", REFUSE),
    ("L49", "f8e8m0fnu[]", "-1", REFUSE),
    ("L49", "f8e8m0fnu[]", "1e39", REFUSE),
    ("L49", "f8e4m3fn[]", "464", ACCEPT),
    ("L49", "f8e4m3fn[]", "465", REFUSE),
    ("L49", "f8e4m3fn[]", "inf", ACCEPT),
    ("L49", "f4e2m1fn[]", "inf", ACCEPT),
    ("L49", "f4e2m1fn[]", "nan", ACCEPT),
    ("L49", "f16[]", "65519", ACCEPT),
    ("5.3 1e400", "f64[]", "1e400", REFUSE),
    ("5.3 integers wrap", "s64[]", "9223372036854775808", ACCEPT),
    ("5.3 integers wrap", "s32[]", "18446744073709551615", ACCEPT),
    ("5.3 no such integer", "s64[]", "-9223372036854775809", REFUSE),
    ("5.3 a real for a complex", "c64[]", "1", REFUSE),
    ("5.3 a pair without comma", "c64[]", "(1 2)", REFUSE),
    ("19 parentheses", "f32[]", "(1, 2)", REFUSE),
    ("19 f64", "f64[]", "-1.7976931348623157e308", ACCEPT),
    ("19 f32 4e38", "f32[]", "4e38", REFUSE),
    ("7 zero rows", "f32[0]", "{}", ACCEPT),
    ("7 zero columns", "f32[2,0]", "{ {}, {} }", ACCEPT),
]

passed = 0
failures = 0


def case(what, complaint):
    global passed, failures
    if complaint:
        failures += 1
        print(f"FAILED {what}: {complaint}")
    else:
        passed += 1
        if "-v" in sys.argv:
            print(f"ok {what}")


def ours(*arguments):
    """What indim does: its verdict and what it said."""
    done = subprocess.run([INDIM, *map(str, arguments)], capture_output=True, timeout=60)
    said = done.stderr.decode(errors="replace")
    if done.returncode == 0:
        return ACCEPT, said
    return (REFUSE if done.returncode in (1, 2) else f"ends with code {done.returncode} on"), said


def verdict_case(what, expected, verdict, said, needs=""):
    if verdict != expected:
        case(what, f"indim {verdict} it, the specification {expected}\n    {said.strip()}")
    elif expected == REFUSE and not re.search(needs or "error", said):
        case(what, f"refused without a proper message: {said!r}")
    else:
        case(what, "")


def xla_case(xla, what, expected, *question):
    if expected is UNASKED:
        return
    try:
        xla.ask(*question)
        verdict = ACCEPT
    except Refused:
        verdict = REFUSE
    except Aborted:
        verdict = REFUSE if question[0] == "compile" else ABORT
    case(f"XLA, {what}", "" if verdict == expected else f"XLA {verdict} it, the table says it {expected}")


def main():
    xla = Xla()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "text.hlo"
        place = re.escape(str(path)) + r":\d+:\d+: error: "

        for name, text, expected, *other in MODULES:
            path.write_bytes(text.encode())
            verdict_case(f"check {name}: {text!r}", expected, *ours("check", path), needs=place)
            xla_case(xla, f"{name}: {text!r}", (other or [expected])[0], "parse", text)
        for name, text, expected, *other in RULES:
            path.write_text(text)
            verdict_case(f"check {name}: {text!r}", expected, *ours("check", path), needs=place)
            xla_case(xla, f"{name}: {text!r}", (other or [expected])[0], "compile", text)
        for name, text, expected, *other in SHAPES:
            verdict_case(f"shape {name}: {text!r}", expected, *ours("shape", text))
            xla_case(xla, f"{name}: {text!r}", (other or [expected])[0], "parse_shape", text)
        for name, shape, body, expected, *other in LITERALS:
            text = entry(f"ROOT c = {shape} constant({body})")
            path.write_text(text)
            verdict_case(f"check {name}: {text!r}", expected, *ours("check", path), needs=place)
            xla_case(xla, f"{name}: {text!r}", (other or [expected])[0], "parse", text)
            if "..." in body or shape[0] in "(to":
                continue
            path.write_text(entry(f"ROOT p = {shape} parameter(0)"))
            layout = "{0}" if re.fullmatch(r"\w+\[\d+\]", shape) else ""
            literal = f"{shape}{layout} {body}"
            verdict_case(f"argument {name}: {literal!r}", expected, *ours("run", path, literal))
    print(f"{passed} passed, {failures} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
