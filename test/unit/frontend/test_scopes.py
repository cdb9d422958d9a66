"""Scopes of `nki.compiler`: KLR has blocks for them, BIR regions, and both front ends compute the same."""

import numpy as np
import pytest

import nki_mlir
import nki_mlir.nki as nki
from nki_mlir.dialects import klr
from nki_mlir.dialects.bir.structure import LoopOp
from nki_mlir.dialects.instruction import InstructionOp
from nki_mlir.dialects.verifier import verify_module
from nki_mlir.frontend.records import Scope
from nki_mlir.interchange.klr import read_klr, write_klr
from nki_mlir.interchange.klr_dialect import klr_to_module, module_to_klr
from nki_mlir.nki import compiler
from nki_mlir.nki import language as nl
from nki_mlir.transforms.ordered import keeps_order

X = np.random.default_rng(0).uniform(-2, 2, (128, 16)).astype(np.float32)


def stored(x, function):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, function(nl.load(x)))
    return out


@nki.jit
def one_region(x):
    def inside(tile):
        with compiler.no_reorder():
            doubled = nl.multiply(tile, 2.0)
            return nl.add(doubled, 1.0)

    return stored(x, inside)


@nki.jit
def nested(x):
    def inside(tile):
        with compiler.multi_buffer(2), compiler.no_reorder():
            tile = nl.multiply(tile, 2.0)
            with compiler.allocation_scope(), compiler.no_reorder():
                tile = nl.add(tile, 1.0)
            return nl.multiply(tile, 3.0)

    return stored(x, inside)


@nki.jit
def empty(x):
    def inside(tile):
        with compiler.no_reorder():
            pass
        return nl.add(tile, 1.0)

    return stored(x, inside)


@nki.jit
def in_a_loop(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        rows = slice(i * 64, i * 64 + 64)
        tile = nl.load(x[rows, :])
        with compiler.no_reorder():
            tile = nl.add(nl.multiply(tile, 2.0), 1.0)
        nl.store(out[rows, :], tile)
    return out


@nki.jit
def around_a_loop(x):
    with compiler.no_reorder():
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for i in nl.affine_range(2):
            rows = slice(i * 64, i * 64 + 64)
            nl.store(out[rows, :], nl.add(nl.load(x[rows, :]), 1.0))
    return out


@nki.jit
def side_by_side(x):
    def inside(tile):
        with compiler.no_reorder():
            tile = nl.multiply(tile, 2.0)
        with compiler.no_reorder():
            return nl.add(tile, 1.0)

    return stored(x, inside)


@nki.jit
def transposed(x):
    """The identity of the second transpose is made in the region of the first."""
    out = nl.ndarray((16, 128), x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    with compiler.no_reorder():
        first = nl.transpose(tile)
    nl.store(out, nl.add(first, nl.transpose(tile)))
    return out


@nki.jit
def without_order(x):
    def inside(tile):
        with compiler.multi_buffer(2), compiler.allocation_scope():
            return nl.add(tile, 1.0)

    return stored(x, inside)


KERNELS = {
    one_region: X * 2 + 1,
    nested: (X * 2 + 1) * 3,
    empty: X + 1,
    in_a_loop: X * 2 + 1,
    around_a_loop: X + 1,
    side_by_side: X * 2 + 1,
    transposed: X.T * 2,
    without_order: X + 1,
}


def blocks(kernel):
    """Returns, for each block of a kernel, its label, whether it keeps its order, its statements and its target."""
    found = []
    for op in nki_mlir.compile(kernel, X, frontend="beta2").walk():
        if isinstance(op, klr.BlockOp):
            ops = list(op.body.block.ops)
            branch = ops.pop() if ops and isinstance(ops[-1], klr.CmpBranchOp) else None
            assert branch is None or branch.always
            target = None if branch is None else (branch.inst_name.data, *branch.targets())
            found.append((op.label.data, op.no_reorder is not None, [inner.name[4:] for inner in ops], target))
    return found


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.func_name)
def test_both_front_ends_compute_the_same(kernel):
    first, second = (kernel.simulate((X,), frontend=frontend) for frontend in ("beta2", "beta3"))
    assert first.tobytes() == second.tobytes()
    np.testing.assert_allclose(first, KERNELS[kernel], rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.func_name)
def test_blocks_are_the_same_in_a_file(kernel):
    module = nki_mlir.compile(kernel, X, frontend="beta2")
    data = write_klr(module_to_klr(module))
    read = klr_to_module(read_klr(data, "k.klr"))
    verify_module(read)
    assert write_klr(module_to_klr(read)) == data
    labels = [op.label for op in module.walk() if isinstance(op, klr.BlockOp)]
    assert [op.label for op in read.walk() if isinstance(op, klr.BlockOp)] == labels


def test_a_region_is_a_block_of_its_own():
    assert blocks(one_region) == [
        ("main.1", False, ["nc_dma_copy"], ("jmp.3", "label.2")),
        ("label.2", True, ["tensor_scalar", "tensor_scalar"], ("jmp.5", "label.4")),
        ("label.4", False, ["nc_dma_copy"], None),
    ]


def test_a_region_in_a_region_is_part_of_it():
    assert [(ordered, len(ops)) for _, ordered, ops, _ in blocks(nested)] == [(False, 1), (True, 3), (False, 1)]


def test_regions_without_statements_and_other_scopes_leave_one_block():
    for kernel in (empty, without_order):
        assert [(label, ordered, len(ops), jump) for label, ordered, ops, jump in blocks(kernel)] == [
            ("main.1", False, 3, None)
        ]


def test_each_iteration_has_a_block():
    found = blocks(in_a_loop)
    assert [(label, ordered) for label, ordered, _, _ in found] == [
        ("main.1", False),
        ("label.2", True),
        ("label.4", False),
        ("label.6", True),
        ("label.8", False),
    ]
    assert [len(ops) for _, _, ops, _ in found] == [1, 2, 2, 2, 1]


def test_a_kernel_that_is_one_region_goes_on_in_an_empty_block():
    assert [(label, ordered, len(ops), jump) for label, ordered, ops, jump in blocks(around_a_loop)] == [
        ("main.1", True, 6, ("jmp.3", "label.2")),
        ("label.2", False, 0, None),
    ]


def test_regions_side_by_side_stay_apart():
    assert [(ordered, len(ops)) for _, ordered, ops, _ in blocks(side_by_side)] == [
        (False, 1),
        (True, 1),
        (True, 1),
        (False, 1),
    ]


@pytest.mark.parametrize("frontend", ["beta2", "beta3"])
def test_a_region_keeps_its_order_in_bir(frontend):
    bir = nki_mlir.compile(one_region, X, frontend=frontend, emit="bir")
    (region,) = [op for op in bir.walk() if isinstance(op, LoopOp)]
    assert keeps_order(region)
    assert [op.name for op in region.body.block.ops if isinstance(op, InstructionOp)] == [
        "bir.tensor_scalar_ptr",
        "bir.tensor_scalar_ptr",
    ]
    function = region.parent
    assert function is not None
    moved = "bir.dma_copy" if frontend == "beta2" else None
    assert [op.name for op in function.ops if isinstance(op, InstructionOp | LoopOp)] == [
        moved or "bir.load",
        "bir.loop",
        moved or "bir.save",
    ]


def test_a_name_of_the_users_is_no_branch():
    """Names of statements are unique, also where the user's looks like that of a branch."""

    @nki.jit
    def kernel(x):
        def inside(tile):
            with compiler.no_reorder():
                result = nl.ndarray(tile.shape, tile.dtype)
                nki.isa.memset(result, 0.0, name="jmp.3")
                return nl.add(tile, result)

        return stored(x, inside)

    assert blocks(kernel)[0][3] == ("jmp.3.1", "label.2")
    assert kernel.simulate((X,), frontend="beta2").tobytes() == X.tobytes()


def test_penguin_keeps_what_is_for_an_allocator():
    scopes = [node for node in without_order.trace((X,), {}, frontend="beta3").programs[0].nodes if type(node) is Scope]
    assert [(scope.kind, dict(scope.attributes)) for scope in scopes] == [("multi_buffer", {"multi_buffer": 2})]
    assert 'penguin.scope "multi_buffer" multi_buffer 2' in str(nki_mlir.compile(without_order, X, emit="penguin"))
