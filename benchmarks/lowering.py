"""What the passes on the way to BIR cost: each lowering an instruction, unrolling one it makes, first fit a tensor.

    python benchmarks/lowering.py [--sizes 1000,10000,100000] [--repeat 3]

A function of instructions with two to four operands, three on average, is lowered from Penguin (in loops of 50) and
from KLR (straight on); one loop of 50 instructions is unrolled; short-lived tensors, some 40 at a time, are placed.
Figures are medians of CPU time without verification; the collector is off, as the tools set it while IR is built.
"""

import argparse
import gc
import time
from collections.abc import Callable
from statistics import median

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from nki_mlir.dialects import get_all_dialects
from nki_mlir.tools.mlir_parser import parse_mlir
from nki_mlir.transforms.allocate_first_fit import AllocateFirstFit
from nki_mlir.transforms.klr_to_bir import ConvertKlrToBir
from nki_mlir.transforms.penguin_to_bir import ConvertPenguinToBir
from nki_mlir.transforms.unroll import Unroll

GOALS = {"convert-penguin-to-bir": 30.0, "convert-klr-to-bir": 30.0, "unroll": 12.0, "allocate-first-fit": 0.0}
"""Microseconds an instruction; 0 where there is no goal."""
LOOP = 50
"""Instructions in one loop."""

STORAGE = """
    %a = D.tensor "a" kind external_input : !nki.mem<hbm 8256x512xf32>
    %o = D.tensor "o" kind external_output : !nki.mem<hbm 8256x512xf32>
    %x = D.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = D.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %z = D.tensor "z" : !nki.mem<sbuf 128x512xbf16>
    %b = D.tensor "b" : !nki.mem<sbuf 128x1xf32>
    %p = D.tensor "p" : !nki.mem<psum 128x512xf32>
"""

ROLES = (
    "outs(%x[0 : 128 | 0 : 512] f32) ins(%a[{i} : 512*128, 512] f32)",
    "outs(%y[0 : 128 | {k} : 256] f32) ins(%x[0 : 128 | {k} : 256] f32, %x[0 : 128 | 256 : 256] f32)",
    "outs(%z[0 : 128 | 0 : 512] bf16)"
    " ins(%y[0 : 128 | 0 : 512] f32, bias = %b[0 : 128 | 0 : 1] f32, scale = 0.5 : f32)",
    "outs(%p[0 : 128 | 0 : 512] f32) ins(%z[0 : 128 | {k} : 128] bf16, %z[0 : 128 | 0 : 512] bf16)",
    "outs(%x[0 : 128 | 0 : 512] f32)"
    " ins(%p[0 : 128 | 0 : 512] f32, operand0 = %b[0 : 128 | 0 : 1] f32, operand1 = {k}.5 : f32)",
    "outs(%b[0 : 128 | 0 : 1] f32) ins(%x[0 : 128 | {k} : 128] f32)",
    "outs(%y[0 : 128 | 0 : 512] f32) ins(%x[0 : 128 | 0 : 512] f32, %x[0 : 128 | 0 : 512] f32, {k}.0 : f32)",
    "outs(%o[{i} : 512*128, 512] f32) ins(%y[0 : 128 | 0 : 512] f32)",
)
HEADS = {
    "penguin": (
        "sb_atom_load",
        "tensor_tensor add on dve",
        "activation exp on act",
        "mat_mul",
        "tensor_scalar_ptr mult add on dve",
        "tensor_reduce max x on dve",
        "tensor_select",
        "sb_atom_store",
    ),
    "klr": (
        "nc_dma_copy",
        "tensor_tensor add on dve",
        "nc_activate exp on act",
        "nc_mat_mul",
        "tensor_scalar mult add on dve",
        "tensor_reduce max x on dve",
        "select_reduce",
        "nc_dma_copy",
    ),
    "bir": (
        "load",
        "tensor_tensor add on dve",
        "activation exp on act",
        "matmult",
        "tensor_scalar_ptr mult add on dve",
        "tensor_reduce max x on dve",
        "select",
        "save",
    ),
}
"""Ops of the dialects for the operands of `ROLES`."""


def instruction(dialect: str, number: int, variable: str | None) -> str:
    """Returns one instruction of the mix; with a loop variable, rows of HBM and columns move with it."""
    kind, k = number % len(ROLES), number % 256
    rows = f"512*{variable} + {k}" if variable else str(k)
    columns = f"{variable} + {k % 128}" if variable and "| {k}" in ROLES[kind] else str(k)
    roles = ROLES[kind].replace("| {k}", f"| {columns}").format(i=rows, k=k)
    tail = " {dtype = #nki.dtype<f32>}" if dialect == "klr" and kind in (1, 4) else ""
    return f'{dialect}.{HEADS[dialect][kind]} "I-{number}" {roles}{tail}\n'


def penguin_text(count: int) -> str:
    """Returns a Penguin module of so many instructions."""
    lines = ["penguin.module @mix {\n  penguin.func @mix {", STORAGE.replace("D.", "penguin.")]
    for number in range(count):
        variable = f"%i{number // LOOP}"
        if number % LOOP == 0:
            lines.append(f"    penguin.loop {variable} = 0 to 64 step 1 affine {{\n")
        lines.append(instruction("penguin", number, variable))
        if number % LOOP == LOOP - 1 or number == count - 1:
            lines.append("    }\n")
    return "".join([*lines, "  }\n}\n"])


def klr_text(count: int) -> str:
    """Returns a KLR kernel of so many statements."""
    lines = ["klr.kernel @mix {\n  klr.body 0 {", STORAGE.replace("D.", "klr."), 'klr.block "main.1" {\n']
    lines += [instruction("klr", number, None) for number in range(count)]
    return "".join([*lines, "    }\n  }\n}\n"])


def loop_text(count: int) -> str:
    """Returns a BIR module with a loop that unrolls to so many instructions."""
    lines = ["bir.module @mix {\n  bir.func @mix {", STORAGE.replace("D.", "bir.")]
    lines.append(f"    bir.loop %i = 0 to {count // LOOP} step 1 affine {{\n")
    lines += [instruction("bir", number, "%i") for number in range(LOOP)]
    return "".join([*lines, "    }\n  }\n}\n"])


def tensors_text(count: int) -> str:
    """Returns a BIR module with so many tensors of various sizes, each written once and read 40 instructions later."""
    lines = ["bir.module @mix {\n  bir.func @mix {\n"]
    for number in range(count):
        lines.append(f'    %t{number} = bir.tensor "t{number}" : !nki.mem<sbuf 128x{64 + number * 37 % 512}xf32>\n')
    for number in range(count):
        lines.append(f"    bir.memset outs(%t{number}[0 : 128 | 0 : 64] f32) ins(0.0 : f32)\n")
        if number >= 40:
            lines.append(f"    bir.tensor_copy outs(%t{number}[0 : 128 | 0 : 1] f32)")
            lines.append(f" ins(%t{number - 40}[0 : 128 | 0 : 1] f32)\n")
    return "".join([*lines, "  }\n}\n"])


TASKS: dict[str, tuple[Callable[[int], str], Callable[[Context, ModuleOp], None]]] = {
    "convert-penguin-to-bir": (penguin_text, lambda ctx, module: ConvertPenguinToBir().apply(ctx, module)),
    "convert-klr-to-bir": (klr_text, lambda ctx, module: ConvertKlrToBir().apply(ctx, module)),
    "unroll": (loop_text, lambda ctx, module: Unroll().apply(ctx, module)),
    "allocate-first-fit": (tensors_text, lambda ctx, module: AllocateFirstFit().apply(ctx, module)),
}


def measure(task: str, count: int, repeat: int) -> float:
    """Returns the median of the microseconds that a pass takes for each of `count` instructions or tensors."""
    text, run = TASKS[task]
    ctx = Context()
    for name, dialect in get_all_dialects().items():
        ctx.register_dialect(name, dialect)
    module = parse_mlir(ctx, text(count), "mix.mlir")
    times: list[float] = []
    for _ in range(repeat):
        copy = module.clone()
        start = time.process_time()
        run(ctx, copy)
        times.append(time.process_time() - start)
        del copy
        gc.collect()
    return 1e6 * median(times) / count


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000", help="instructions of each run")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the median is taken")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    gc.disable()
    print(f"{'us each':24}" + "".join(f"{size:>10,}" for size in sizes) + f"{'ratio':>8}{'goal':>8}")
    for task, goal in GOALS.items():
        figures = [measure(task, size, arguments.repeat) for size in sizes]
        ratio = max(figures) / min(figures)
        line = "".join(f"{figure:10.1f}" for figure in figures)
        print(f"{task:24}{line}{ratio:8.2f}{f'{goal:.0f}' if goal else '-':>8}")


if __name__ == "__main__":
    main()
