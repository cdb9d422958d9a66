"""Unrolling and placing storage change no bit of what a program computes: random programs of nested loops, run on the
simulator with their loops, unrolled, and placed."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from nki_mlir.dialects import get_all_dialects
from nki_mlir.dialects.verifier import verify_module
from nki_mlir.simulator import simulate
from nki_mlir.tools.mlir_parser import parse_mlir
from nki_mlir.transforms.allocate_first_fit import AllocateFirstFit
from nki_mlir.transforms.unroll import Unroll

COLUMNS = 24


class Program:
    """The text of a random program; every index stays in bounds whatever the loops do."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops: list[tuple[str, range]] = []
        self.inner: list[str] = []
        self.count = 0
        self.emit('%x = bir.tensor "x" kind external_input : !nki.mem<hbm 32x24xf32>')
        self.emit('%o = bir.tensor "o" kind external_output : !nki.mem<hbm 6x32x24xf32>')
        for name in "ab":
            self.emit(f'%{name} = bir.tensor "{name}" : !nki.mem<sbuf 32x24xf32>')
        self.emit('%s = bir.tensor "s" : !nki.mem<sbuf 32x24xf32, blocks 3>')
        self.emit('%p = bir.tensor "p" : !nki.mem<psum 24x24xf32>')
        self.emit('%r = bir.register "r"')
        self.emit('bir.register_move "start" outs(%r) ins(2 : i32)')
        for name in ("%a", "%b", "%s", "%s{1}", "%s{2}"):
            self.emit(f'bir.load "{self.name()}" outs({name}[0 : 32 | 0 : 24] f32) ins(%x[0 : 24*32, 24] f32)')
        self.emit(f'bir.memset "{self.name()}" outs(%p[0 : 24 | 0 : 24] f32) ins(0.5 : f32)')
        self.body(3)
        for number, name in enumerate(("%a", "%b", "%s", "%s{1}", "%s{2}")):
            self.emit(f"bir.save outs(%o[{768 * number} : 24*32, 24] f32) ins({name}[0 : 32 | 0 : 24] f32)")
        self.emit("bir.memset outs(%a[0 : 32 | 0 : 24] f32) ins(0.0 : f32)")
        self.emit("bir.tensor_copy outs(%a[0 : 24 | 0 : 24] f32) ins(%p[0 : 24 | 0 : 24] f32)")
        self.emit("bir.save outs(%o[3840 : 24*32, 24] f32) ins(%a[0 : 32 | 0 : 24] f32)")

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def name(self) -> str:
        self.count += 1
        return f"I-{self.count}"

    def text(self) -> str:
        body = "\n".join(self.lines)
        return f"bir.module @m {{\nbir.func @f {{\n{body}\n}}\n}}\n"

    def body(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self.loop, self.instruction, self.instruction) if depth else (self.instruction,))(depth)

    def loop(self, depth: int) -> None:
        kind = self.random.choice(("static", "static", "static", "dynamic", "ordered"))
        variable = f"%i{len(self.loops)}_{self.count}"
        self.count += 1
        bounds = range(self.random.randint(0, 2), self.random.randint(0, 5), self.random.randint(1, 2))
        carried = f"%c{self.count}"
        self.tensor(carried)
        if kind == "static":
            self.emit(f"bir.loop {variable} = {bounds.start} to {bounds.stop} step {bounds.step} sequential {{")
        elif kind == "dynamic":
            bounds = range(2)
            self.emit(f"bir.dynamic_for_loop {variable} = 0 to %r step 1 {{")
        else:
            bounds = range(1)
            self.emit(f"bir.loop {variable} = 0 to 1 step 1 sequential attributes {{no_reorder}} {{")
        inner = list(self.inner)
        self.loops.append((variable, bounds))
        # Every iteration reads what was written before the loop: nothing else may take its place meanwhile.
        self.emit(f'bir.tensor_copy "{self.name()}" outs(%a[0 : 32 | 0 : 1] f32) ins({carried}[0 : 32 | 0 : 1] f32)')
        if self.random.random() < 0.5:
            storage = f"%t{self.count}"
            self.tensor(storage)
            self.inner.append(storage)
        self.body(depth - 1)
        self.loops.pop()
        self.inner = inner
        self.emit("}")

    def tensor(self, storage: str) -> None:
        """Defines storage here and fills it."""
        self.emit(f'{storage} = bir.tensor "{storage[1:]}" : !nki.mem<sbuf 32x24xf32>')
        self.emit(f'bir.memset "{self.name()}" outs({storage}[0 : 32 | 0 : 24] f32) ins({self.count}.0 : f32)')

    def affine(self, most: int) -> str:
        """Returns an expression between 0 and `most`, of up to two loop variables."""
        constant, terms = self.random.randint(0, most), list[str]()
        left = most - constant
        for variable, bounds in self.random.sample(self.loops, min(2, len(self.loops))):
            highest = max(bounds, default=bounds.start)  # a loop that never runs is verified at its lower bound
            factor = self.random.randint(1, 3)
            if factor * highest <= left:
                left -= factor * highest
                terms.append(f"{factor}*{variable}")
            elif left:
                modulus = self.random.randint(2, left + 1)
                left -= modulus - 1
                terms.append(f"({variable} mod {modulus})")
        return " + ".join([str(constant), *terms])

    def mask(self, most: int) -> str:
        """Returns a pair's number, perhaps bounded by a loop variable."""
        if not self.loops or self.random.random() < 0.6:
            return str(most)
        variable = self.random.choice(self.loops)[0]
        return f"min({most}, {self.random.randint(-3, -1)}*{variable} + {self.random.randint(1, most)})"

    def storage(self) -> str:
        return self.random.choice(("%a", "%b", f"%s{{{self.affine(2)}}}", *self.inner))

    def guard(self) -> str:
        if not self.loops or self.random.random() < 0.6:
            return ""
        variables = [variable for variable, _ in self.random.sample(self.loops, min(2, len(self.loops)))]
        first = f"{variables[0]} - {self.random.randint(0, 2)} {self.random.choice(('ge', 'eq'))} 0"
        second = f", {self.random.randint(1, 4)} - {variables[-1]} ge 0" if self.random.random() < 0.5 else ""
        return f" when({first}{second})"

    def instruction(self, _: int) -> None:
        width = self.random.randint(1, 8)
        number = self.mask(width)

        def tile() -> str:
            return f"{self.storage()}[0 : 32 | {self.affine(COLUMNS - width)} : {number}] f32"

        kind = self.random.randint(0, 3)
        if kind == 0:
            operands = f'tensor_tensor {self.random.choice(("add", "subtract", "max"))} "{self.name()}"'
            roles = f"outs({tile()}) ins({tile()}, {tile()})"
        elif kind == 1:
            operands = f'tensor_scalar_ptr mult add "{self.name()}"'
            roles = f"outs({tile()}) ins({tile()}, operand0 = 0.5 : f32, operand1 = {self.count}.0 : f32)"
        elif kind == 2:
            operands = f'tensor_copy "{self.name()}"'
            roles = f"outs({tile()}) ins({tile()})"
        else:
            stationary, moving = (
                f"{self.storage()}[0 : 32 | {self.affine(COLUMNS - width)} : {width}] f32" for _ in range(2)
            )
            accumulate = self.affine(1)
            operands = f'matmult "{self.name()}"'
            roles = f"outs(%p[0 : {width} | {self.affine(COLUMNS - width)} : {width}] f32) ins({stationary}, {moving})"
            roles += f" params(accumulate = {accumulate})"
        self.emit(f"bir.{operands} {roles}{self.guard()}")


def module_of(text: str) -> tuple[Context, ModuleOp]:
    ctx = Context()
    for name, dialect in get_all_dialects().items():
        ctx.register_dialect(name, dialect)
    module = parse_mlir(ctx, text, "random.mlir")
    verify_module(module)
    return ctx, module


def output(module: ModuleOp) -> bytes:
    x = np.random.default_rng(0).standard_normal((32, 24), np.float32)
    return simulate(module, {"x": x}).outputs["o"].tobytes()


@pytest.mark.parametrize("seed", range(40))
def test_the_passes_keep_the_meaning(seed: int):
    text = Program(seed).text()
    _, module = module_of(text)
    expected = output(module)
    pipelines: list[list[Callable[[Context, ModuleOp], None]]] = [
        [Unroll().apply],
        [AllocateFirstFit().apply],
        [Unroll().apply, AllocateFirstFit().apply],
        [AllocateFirstFit().apply, Unroll().apply],
        [Unroll(max_trip_count=2).apply, AllocateFirstFit().apply],
    ]
    for passes in pipelines:
        ctx, module = module_of(text)
        for run in passes:
            run(ctx, module)
        verify_module(module)
        assert output(module) == expected


def test_the_programs_have_what_they_are_to_test():
    texts = [Program(seed).text() for seed in range(40)]
    for piece in ("bir.loop", "dynamic_for_loop", "no_reorder", "when(", "min(", "mod", "%s{", "matmult", "%t"):
        assert sum(piece in text for text in texts) > 5, piece


def test_no_static_loop_is_left_and_names_are_unique():
    for seed in range(20):
        ctx, module = module_of(Program(seed).text())
        Unroll().apply(ctx, module)
        names = [op.properties["name"] for op in module.walk() if "name" in op.properties]
        assert len(set(names)) == len(names)
        loops = [op for op in module.walk() if op.name == "bir.loop"]
        assert all("no_reorder" in op.attributes for op in loops)
