#!/usr/bin/env python3
"""Executes compiled programs on processors that are not at hand, emulated by QEMU.

    INDIM_BIN=build/dev/indim run.py [TARGET...]    for those targets only; ALL=1: every program for each target, not every
    second one, the others for the next target; INDIM_TEST_PART=K/N: every Nth of those from the Kth on; SEEDS="100 7": so many
    random programs from that seed on; KEEP=1 keeps the files

The programs of tests/prop/targets.c are compiled to objects, linked into one executable with runner.c and the library's
own matrix product, and executed; what they give is held against the evaluator. With them, one by one: parallel loops in
pieces that run backwards, buffers between guard pages, vectors of another length than the code was made for (SVE).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = pathlib.Path(os.environ.get("INDIM_BIN", "build/dev/indim")).resolve().parent / "tests/test_prop_targets"
JOBS = os.cpu_count() or 1

# Target: the prefix of the cross tools, the emulator with its processor, and how many random programs.
TARGETS = {
    "aarch64": ("aarch64-linux-gnu-", ["qemu-aarch64-static", "-cpu", "cortex-a53"], 60),
    "aarch64+sve": ("aarch64-linux-gnu-", ["qemu-aarch64-static", "-cpu", "max,sve-default-vector-length=64"], 20),
    "aarch64 plain": ("aarch64-linux-gnu-", ["qemu-aarch64-static", "-cpu", "cortex-a53"], 20),
    "riscv64": ("riscv64-linux-gnu-", ["qemu-riscv64-static", "-cpu", "rv64"], 20),
    "riscv64+v": ("riscv64-linux-gnu-", ["qemu-riscv64-static", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128"], 20),
    "riscv64 plain": ("riscv64-linux-gnu-", ["qemu-riscv64-static", "-cpu", "rv64"], 0),
}
PACKAGES = (
    "qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"
)
# QEMU 7 dies of an assertion of its own when it translates some conversions of RISC-V vectors to integers.
EMULATOR_DEFECT = re.compile(r".*decode_save_opc: Assertion .*\nFAILED (\d+)\.\d+: .*\n")
MOST_LEFT_OUT = 0.1


def missing_tools():
    tools = {tool for prefix, emulator, _ in TARGETS.values() for tool in (prefix + "gcc", prefix + "objcopy", emulator[0])}
    return sorted(tool for tool in tools if shutil.which(tool) is None)


def run(command):
    """The output of a command that must succeed."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:6]))} ...: {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


FLAGS = "-std=gnu11 -O1 -Wall -Werror -ffunction-sections -Isrc -Iinclude -D_POSIX_C_SOURCE=200809L".split()
SERVICES = ["run/matmul*.c", "run/subnormal.c", "run/aligned_memory.c", "run/gemm*.c", "run/fft*.c", "run/sort.c", "linalg/*.c", "linalg/math/*.c",
            "base/*.c", "array/type.c", "array/element.c", "array/float_format.c"]


def compile_services(prefix, folder):
    """The runner and what programs call, compiled once for all targets of a family; the longest files first."""
    files = [ROOT / "tests/emulate/runner.c", *(p for name in SERVICES for p in (ROOT / "src").glob(name))]
    files.sort(key=lambda path: path.name not in ("lanes.c", "fft_kernels.c", "gemm.c"))
    objects = [folder / f"{number}.service.o" for number in range(len(files))]
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda source, o: run([prefix + "gcc", *FLAGS, "-c", source, "-o", o]), files, objects))
    return objects


def link(prefix, folder, services):
    """One executable of all objects in a folder, whose functions are given names of their own."""
    objects = sorted(folder.glob("*.o"), key=lambda path: int(path.stem))
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda o: run([prefix + "objcopy", "--redefine-sym", f"indim_program=program_{o.stem}", o]), objects))
    table = folder / "table.c"
    names = [f"program_{o.stem}" for o in objects]
    table.write_text(
        '#include "indim/indim_host.h"\n'
        + "typedef struct entry {\n  int number;\n  indim_compiled_fn *program;\n} entry;\n"
        + "".join(f"extern indim_compiled_fn {name};\n" for name in names)
        + "const entry entries[] = {"
        + ", ".join(f"{{{o.stem}, {name}}}" for o, name in zip(objects, names))
        + f"}};\nconst int entry_count = {len(objects)};\n"
    )
    run([prefix + "gcc", *FLAGS, "-static", table, *services, *objects, "-o", folder / "programs", "-Wl,--gc-sections", "-lm"])
    return len(objects)


def execute(emulator, folder):
    """What the programs say, in as many processes as there are processors. One that dies leaves results missing."""

    def part(first):
        command = [*emulator, folder / "programs", folder, str(first), str(JOBS)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return done.stdout + (f"FAILED: the emulator ended with {done.returncode}\n" if done.returncode not in (0, 1) else "")

    with ThreadPoolExecutor(JOBS) as pool:
        return "".join(pool.map(part, range(JOBS)))


def leave_out(said, folder, count):
    """What is said without the programs that the emulator itself died of, which are not compared, and how many they are."""
    numbers = set(EMULATOR_DEFECT.findall(said))
    if len(numbers) > MOST_LEFT_OUT * count:
        return said, 0
    for number in numbers:
        (folder / f"{number}.o").unlink()
    if numbers:
        print(f"left out: {len(numbers)} programs that this QEMU does not translate (decode_save_opc)")
    return EMULATOR_DEFECT.sub("", said), len(numbers)


def part_of_programs(target):
    """K/N: every Nth program from the Kth on is executed for this target."""
    if "ALL" in os.environ:
        return "0/1"
    first, step = map(int, os.environ.get("INDIM_TEST_PART", "0/1").split("/"))
    return f"{list(TARGETS).index(target) % 2 + 2 * first}/{2 * step}"


def check(target, services):
    """(passed, failed) for one target: programs whose results were compared."""
    prefix, emulator, seeds = TARGETS[target]
    os.environ["INDIM_PART"] = part_of_programs(target)
    seeds = os.environ.get("SEEDS", str(seeds)).split()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="indim-emulate-"))
    try:
        run([TOOL, "export", target, folder, *seeds])
        count = link(prefix, folder, services[prefix])
        said, left_out = leave_out(execute(emulator, folder), folder, count)
        done = subprocess.run([TOOL, "compare", target, folder, *seeds], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        print(said + done.stdout.rsplit("\n", 2)[0], flush=True)
        passed, failed = map(int, re.search(r"(\d+) passed, (\d+) failed\n$", done.stdout).groups())
        failed = max(failed, said.count("FAILED"))
        return passed, failed if passed + failed >= count - left_out else failed + 1
    except RuntimeError as error:
        print(f"FAILED {target}: {error}")
        return 0, 1
    finally:
        if "KEEP" in os.environ:
            print(f"the files are in {folder}")
        else:
            shutil.rmtree(folder)


def main():
    missing = missing_tools()
    if missing:
        print(f"FAILED: not installed: {', '.join(missing)}; on Debian: apt-get install {PACKAGES}")
        print("0 passed, 1 failed")
        return 1
    targets = sys.argv[1:] or list(TARGETS)
    with tempfile.TemporaryDirectory(prefix="indim-emulate-") as scratch:
        services = {}
        for prefix in dict.fromkeys(TARGETS[target][0] for target in targets):
            folder = pathlib.Path(scratch) / prefix
            folder.mkdir()
            services[prefix] = compile_services(prefix, folder)
        sums = [check(target, services) for target in targets]
    passed, failed = (sum(column) for column in zip(*sums))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
