"""Tiles of the older API: assignment and its folding, accumulation, masks, loops, grids, numpy's protocol."""

import numpy as np
import pytest
from legacy_kernels import both, data, mapped, names, trace

from nki_mlir.frontend.errors import (
    KernelError,
    NKIIndexError,
    NKINotImplementedError,
    NKIRuntimeError,
    NKISyntaxError,
    NKITypeError,
    NKIValueError,
)
from nki_mlir.frontend.records import Loop, Record
from nki_mlir.nki_legacy import isa as nisa
from nki_mlir.nki_legacy import jit
from nki_mlir.nki_legacy import language as nl

X = data(128, 64)


def output(like, shape=None):
    return nl.ndarray(shape or like.shape, dtype=like.dtype, buffer=nl.shared_hbm)


# Assignment -----------------------------------------------------------------------------------------------------


def assigning(write):
    """Returns a kernel that makes a tile, calls `write(tile, x)` and stores the tile."""

    @jit
    def kernel(x):
        out = output(x)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        write(tile, x)
        nl.store(out, tile)
        return out

    return kernel


def test_an_instruction_writes_the_target_of_its_assignment():
    def write(tile, x):
        tile[...] = nl.load(x)

    assert names(assigning(write), X) == ["dma_load", "dma_save"]
    assert (both(assigning(write), X) == X).all()


def test_a_second_reader_keeps_the_copy():
    def write(tile, x):
        loaded = nl.load(x)
        tile[...] = loaded
        nl.exp(loaded)

    assert names(assigning(write), X) == ["dma_load", "tensor_copy", "activation", "dma_save"]
    assert (both(assigning(write), X) == X).all()


def test_another_type_keeps_the_copy():
    def write(tile, x):
        tile[...] = nl.load(x, dtype=nl.bfloat16)

    assert names(assigning(write), X) == ["dma_load", "tensor_copy", "dma_save"]


def test_what_touches_the_target_in_between_keeps_the_copy():
    def write(tile, x):
        loaded = nl.load(x)
        tile[...] = 0.0
        tile[...] = loaded

    assert names(assigning(write), X) == ["dma_load", "memset", "tensor_copy", "dma_save"]
    assert (both(assigning(write), X) == X).all()


def test_a_loop_in_between_keeps_the_copy():
    def write(tile, x):
        loaded = nl.load(x)
        for _ in nl.affine_range(2):
            nl.exp(tile)
        tile[...] = loaded

    @jit
    def kernel(x):
        out = output(x)
        tile = nl.zeros(x.shape, x.dtype)
        write(tile, x)
        nl.store(out, tile)
        return out

    assert names(kernel, X) == ["memset", "dma_load", "activation", "activation", "tensor_copy", "dma_save"]
    assert (both(kernel, X) == X).all()


def test_an_instruction_may_write_over_what_it_reads_at_the_same_elements():
    def write(tile, x):
        tile[...] = nl.load(x)
        tile[...] = nl.exp(tile)

    assert names(assigning(write), X) == ["dma_load", "activation", "dma_save"]
    np.testing.assert_allclose(both(assigning(write), X), np.exp(X), rtol=1e-5)


def test_but_not_at_others():
    def write(tile, x):
        tile[...] = nl.load(x)
        tile[:, 0:32] = nl.exp(tile[:, 1:33])

    expected = X.copy()
    expected[:, 0:32] = np.exp(X[:, 1:33])
    assert names(assigning(write), X) == ["dma_load", "activation", "tensor_copy", "dma_save"]
    np.testing.assert_allclose(both(assigning(write), X), expected, rtol=1e-5)


def test_a_matmul_cannot_write_to_sbuf():
    def write(tile, x):
        loaded = nl.load(x)
        tile[...] = nl.matmul(loaded, nl.load(x)[0:64, :])

    @jit
    def kernel(x):
        out = output(x)
        tile = nl.ndarray(x.shape, dtype=x.dtype)
        write(tile, x)
        nl.store(out, tile)
        return out

    assert "tensor_copy" in names(kernel, X)
    np.testing.assert_allclose(both(kernel, X), X @ X[:64], rtol=1e-4, atol=1e-4)


def test_assignments_are_broadcast():
    def write(tile, x):
        tile[...] = nl.load(x[:, 0:1])
        tile[0:32, :] = nl.load(x[0:1, :])

    expected = np.broadcast_to(X[:, :1], X.shape).copy()
    expected[:32] = X[0]
    assert (both(assigning(write), X) == expected).all()


def test_a_value_must_fit():
    def write(tile, x):
        tile[:, 0:8] = nl.load(x)

    with pytest.raises(NKIValueError) as caught:
        assigning(write).trace((X,), {}, frontend="beta3")
    expected = "a value of shape (128, 64) does not fit into a destination of shape (128, 8)"
    assert str(caught.value) == f"{expected} [store_dst_shape_smaller_than_other_shape]"
    assert caught.value.location.file == __file__


def test_tensors_in_hbm_are_stored_to():
    @jit
    def kernel(x):
        out = output(x)
        out[...] = nl.load(x)
        return out

    with pytest.raises(NKITypeError, match=r"the target t\.1 is in shared_hbm, expected to be in sbuf, psum"):
        kernel.trace((X,), {}, frontend="beta3")


def test_copies_that_only_some_iterations_could_fold():
    """An addition may write over what it reads where both are the same elements, as in one iteration of four."""

    @jit
    def kernel(x):
        out = output(x)
        tile = nl.load(x)
        for n in nl.sequential_range(4):
            for m in nl.sequential_range(4):
                tile[:, nl.ds(n, 4)] = nisa.tensor_scalar(tile[:, nl.ds(m, 4)], np.add, 1.0)
        nl.store(out, tile)
        return out

    expected = X.copy()
    for n in range(4):
        for m in range(4):
            expected[:, n : n + 4] = expected[:, m : m + 4] + np.float32(1)
    assert (both(kernel, X) == expected).all()


# Operators in place ---------------------------------------------------------------------------------------------


def test_operators_in_place_record_one_instruction():
    def write(tile, x):
        tile[...] = nl.load(x)
        tile += 1.0
        tile *= tile
        tile[:, 0:32] -= nl.load(x[:, 0:32])
        tile /= nl.load(x[:, 0:1])

    expected = (X + 1) ** 2
    expected[:, :32] -= X[:, :32]
    names_expected = ["dma_load", "tensor_scalar", "tensor_tensor", "dma_load", "tensor_tensor"]
    assert names(assigning(write), X) == [*names_expected, "dma_load", "tensor_scalar", "dma_save"]
    np.testing.assert_allclose(both(assigning(write), X), expected / X[:, :1], rtol=1e-5, atol=1e-5)


def test_a_copy_to_the_same_elements_is_one_in_a_loop_or_not():
    """In one of the iterations source and target are the same; what `+=` assigns is no copy."""

    def write(tile, x):
        tile[...] = nl.load(x)
        for i in nl.affine_range(4):
            tile[:, 2 * i : 2 * i + 2] = tile[:, 4:6]
        for i in nl.affine_range(4):
            tile[:, 2 * i : 2 * i + 2] += 1.0
        tile[...] = tile

    expected = X.copy()
    expected[:, :8] = np.tile(X[:, 4:6], 4) + 1
    assert (both(assigning(write), X) == expected).all()
    assert names(assigning(write), X).count("tensor_copy") == 4 + 1


def test_a_result_is_folded_where_only_iterations_that_do_not_run_leave_the_target():
    @jit
    def kernel(x):
        out = nl.ndarray((64, 8), dtype=x.dtype, buffer=nl.shared_hbm)
        tile, total = nl.load(x), nl.zeros((nl.par_dim(64), 16), dtype=nl.float32, buffer=nl.psum)
        row, column = nl.mgrid[0:64, 0:8]
        for i in nl.sequential_range(3):
            total[row, column + 8 - 8 * i] += nl.matmul(tile, tile[:, 0:8], transpose_x=True, mask=(i < 2))
        nl.store(out, nl.copy(total[:, 0:8]))
        return out

    np.testing.assert_allclose(both(kernel, X), X.T @ X[:, :8], rtol=1e-4, atol=1e-4)
    assert not {"tensor_copy", "tensor_tensor"} & set(names(kernel, X)[:-2])


def test_what_an_augmented_assignment_assigns_is_no_copy_where_its_index_fixes_the_loop():
    """The first subscript by -i ends the piece of the loop at i = 0; the second one finds the index in range."""

    @jit
    def kernel(x):
        out = nl.ndarray((3, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
        tiles = nl.zeros((3, nl.par_dim(x.shape[0]), x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        for i in nl.sequential_range(2):
            tiles[-i] += nl.load(x)
        for k in range(3):
            nl.store(out[k], tiles[k])
        return out

    assert (both(kernel, X) == np.stack([X, np.zeros_like(X), X])).all()
    assert "tensor_copy" not in names(kernel, X)


def accumulating(add, k=256):
    @jit
    def kernel(x, y):
        out = nl.ndarray((x.shape[1], y.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((x.shape[1], y.shape[1]), dtype=nl.float32, buffer=nl.psum)
        for i in nl.affine_range(x.shape[0] // 128):
            a, b = nl.load(x[i * 128 : (i + 1) * 128, :]), nl.load(y[i * 128 : (i + 1) * 128, :])
            add(total, a, b)
        nl.store(out, nl.copy(total))
        return out

    return kernel


def test_a_matmul_added_to_psum_accumulates_there():
    def name(total, a, b):
        total += nl.matmul(a, b, transpose_x=True)

    def subscript(total, a, b):
        total[...] += nisa.nc_matmul(a, b)

    def part(total, a, b):
        total[0:64, :] += nisa.nc_matmul(a[:, 0:64], b)

    x, y = data(256, 64), data(256, 96, seed=1)
    for add in (name, subscript, part):
        kernel = accumulating(add)
        assert names(kernel, x, y) == ["memset", *["dma_load", "dma_load", "matmul"] * 2, "tensor_copy", "dma_save"]
        loop = next(node for node in trace(kernel, x, y) if isinstance(node, Loop))
        assert loop.bounds == (0, 2)
        (matmul,) = (r for r in loop.body if isinstance(r, Record) and r.instr.name == "matmul")
        assert matmul.attributes["accumulate"] == 1
        np.testing.assert_allclose(both(kernel, x, y), x.T @ y, rtol=1e-4, atol=1e-4)


def test_a_matmul_that_is_read_twice_is_added_from_sbuf():
    def add(total, a, b):
        product = nl.matmul(a, b, transpose_x=True)
        total += product
        nl.copy(product)

    x, y = data(256, 64), data(256, 96, seed=1)
    kernel = accumulating(add)
    step = ["dma_load", "dma_load", "matmul", "tensor_copy", "tensor_tensor", "tensor_copy"]
    assert names(kernel, x, y) == ["memset", *step * 2, "tensor_copy", "dma_save"]
    np.testing.assert_allclose(both(kernel, x, y), x.T @ y, rtol=1e-4, atol=1e-4)


def test_two_tiles_in_psum_can_be_added():
    result = both(mapped(lambda x: nl.transpose(x) + nl.transpose(x)), X)
    assert (result == 2 * X.T).all()


# Masks ----------------------------------------------------------------------------------------------------------


@jit
def masked_copy(x):
    out = output(x)
    rows, columns = nl.arange(128)[:, None], nl.arange(x.shape[1])[None, :]
    for i in nl.affine_range((x.shape[0] + 127) // 128):
        at = i * 128 + rows
        tile = nl.load(x[at, columns], mask=(at < x.shape[0]))
        tile = nl.multiply(tile, 2.0, mask=(at < x.shape[0]))
        nl.store(out[at, columns], tile, mask=(at < x.shape[0]))
    return out


def test_masks_shrink_the_last_tile():
    x = data(300, 40)
    assert (both(masked_copy, x) == 2 * x).all()
    (loop,) = trace(masked_copy, x)
    assert loop.bounds == (0, 3)


def test_a_masked_result_is_assigned_where_it_was_written():
    @jit
    def kernel(x):
        out = output(x)
        rows, columns = nl.mgrid[0:128, 0:64]
        tile = nl.zeros((128, 64), dtype=x.dtype)
        tile[...] = nl.load(x[rows, columns], mask=(rows < 100))
        tile[...] = nl.add(tile, 5.0, mask=(columns >= 60) & (rows < 3))
        tile += nl.add(tile, 0.0, mask=(columns < 2))
        nl.store(out, tile)
        return out

    expected = np.where(np.arange(128)[:, None] < 100, X, 0)
    expected[:3, 60:] += 5
    expected[:, :2] *= 2
    np.testing.assert_allclose(both(kernel, X), expected, rtol=1e-6)


def test_a_mask_of_numbers_records_all_or_nothing():
    @jit
    def kernel(x):
        out = output(x)
        tile = nl.load(x)
        for i in nl.affine_range(4):
            tile[...] = nl.add(tile, 1.0, mask=(i > 1))
        nl.store(out, tile)
        return out

    assert names(kernel, X) == ["dma_load", "tensor_scalar", "tensor_scalar", "dma_save"]
    np.testing.assert_allclose(both(kernel, X), X + 2, rtol=1e-6)


def test_a_mask_that_leaves_nothing_of_an_iteration():
    """The list is indexed behind the mask, which tells the iterations apart only then."""

    @jit
    def kernel(x, of_grid):
        out = output(x)
        row, column = nl.mgrid[0:128, 0:64]
        nl.store(out, nl.multiply(nl.load(x), 0.0))

        def part(number):
            tile = nl.load(x)
            nl.store(out[row, column], tile, mask=(column < number * 8))
            nl.multiply(tile, [1.0, 2.0, 3.0][number])

        if of_grid:
            part(nl.program_id(0))
        else:
            for number in nl.sequential_range(3):
                part(number)
        return out

    expected = np.where(np.arange(64) < 16, X, 0)
    assert (both(kernel, X, False) == expected).all()
    assert (both(kernel[3], X, True) == expected).all()


A64 = data(64, 64, seed=5)


def _grids(x):
    row, column = nl.mgrid[0:64, 0:64]
    return row, column, nl.load(x)


def _product_of_rows(x, total, number):
    """A mask that cuts the contraction, and a guard; in the last iteration nothing is left."""
    row, column, tile = _grids(x)
    total += nisa.nc_matmul(tile[row, column], tile[row, column], mask=(row < 64 - 32 * number) & (number > 0))
    return total


def _twice(x, total, number):
    """A result that is added to two tiles in PSUM, one of them by a copy."""
    row, column, tile = _grids(x)
    product = nisa.nc_matmul(tile[row, column], tile[row, column], mask=(column < 16 * number + 8))
    total += product
    total += product
    return total


def _sum_of_columns(x, total, number):
    row, column, tile = _grids(x)
    total[:, 0:1] += nl.sum(tile[row, column], axis=[1], keepdims=True, mask=(column < 64 - 32 * number))
    return total


def _cut_and_guarded(x, total, number):
    row, column, tile = _grids(x)
    total[...] = nl.add(tile[row, column], 1.0, mask=(column >= 5 * number + 9) & (number > 0))
    return total


def _np_product_of_rows(x, number):
    part = x[: 64 - 32 * number] if number > 0 else x[:0]
    return part.T @ part


def _np_twice(x, number):
    found = np.zeros_like(x)
    part = x[:, : 16 * number + 8]  # both operands have the grid of the mask
    found[: part.shape[1], : part.shape[1]] = 2 * (part.T @ part)
    return found


def _np_sum_of_columns(x, number):
    found = np.zeros_like(x)
    found[:, 0] = x[:, : 64 - 32 * number].sum(axis=1)
    return found


@pytest.mark.parametrize(
    "step, formula",
    [(_product_of_rows, _np_product_of_rows), (_twice, _np_twice), (_sum_of_columns, _np_sum_of_columns)],
)
@pytest.mark.parametrize("buffer", [nl.sbuf, nl.psum])
def test_masked_results_are_added_in_loops(step, formula, buffer):
    @jit
    def kernel(x):
        out = output(x)
        total = nl.zeros((64, 64), dtype=nl.float32, buffer=buffer)
        for number in nl.sequential_range(3):
            total = step(x, total, number)
        nl.store(out, nl.copy(total))
        return out

    expected = sum(formula(A64.astype(np.float64), number) for number in range(3))
    np.testing.assert_allclose(both(kernel, A64), expected, rtol=1e-4, atol=1e-3)


def test_a_view_that_a_mask_has_cut_stays_cut_under_a_guard():
    @jit
    def kernel(x):
        out = output(x)
        total = nl.zeros((64, 64), dtype=nl.float32)
        for number in nl.sequential_range(3):
            total = _cut_and_guarded(x, total, number)
        nl.store(out, total)
        return out

    expected = np.zeros_like(A64)
    for number in (1, 2):
        expected[:, 5 * number + 9 :] = A64[:, 5 * number + 9 :] + np.float32(1)
    assert (both(kernel, A64) == expected).all()


def test_a_mask_of_a_matmul_belongs_to_the_operand_with_its_axis():
    @jit
    def kernel(x, y):
        out = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        k, m, n = nl.arange(128)[:, None], nl.arange(64)[None, :], nl.arange(64)[None, :]
        a, b = nl.load(x), nl.load(y)
        total = nl.zeros((64, 64), dtype=nl.float32, buffer=nl.psum)
        total += nl.matmul(a[k, m], b[k, n], transpose_x=True, mask=(m < 10) & (k < 100))
        nl.store(out, nl.copy(total))
        return out

    x, y = data(128, 64), data(128, 64, seed=1)
    expected = x[:100].T @ y[:100]
    expected[10:] = 0
    np.testing.assert_allclose(both(kernel, x, y), expected, rtol=1e-4, atol=1e-4)


def test_reductions_take_the_mask_of_their_data():
    @jit
    def kernel(x):
        out = nl.ndarray((16, 6), dtype=x.dtype, buffer=nl.shared_hbm)
        p, a, b = nl.mgrid[0:16, 0:6, 0:5]
        tile = nl.load(x)
        total = nl.zeros((16, 6), dtype=x.dtype)
        total[...] = nl.sum(tile[p, a, b], axis=2, mask=(b < 3) & (a < 5))
        nl.store(out, total)
        return out

    x = data(16, 6, 5)
    expected = x[:, :, :3].sum(axis=2)
    expected[:, 5] = 0
    np.testing.assert_allclose(both(kernel, x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda i, j: i != j,
            NKISyntaxError,
            "'not equal' mask is not supported; run the instruction once with '<' and once with '>'"
            " [mask_not_equal_not_supported]",
        ),
        (
            lambda i, j: (i < 3) | (j < 3),
            NKIValueError,
            "'logical or' is not supported for the `mask`; run the instruction once for each of its parts"
            " [logic_or_not_supported]",
        ),
        (lambda i, j: i < 3 and j < 3, NKISyntaxError, "depends on arange or mgrid and has no single answer"),
        (lambda i, j: 5, NKIValueError, "unsupported expression in mask: 5 is no comparison of indices"),
    ],
)
def test_masks_that_do_not_exist(make, error, text):
    @jit
    def kernel(x):
        i, j = nl.arange(128)[:, None], nl.arange(64)[None, :]
        return nl.load(x[i, j], mask=make(i, j))

    with pytest.raises(error) as caught:
        kernel.trace((X,), {}, frontend="beta3")
    assert text in str(caught.value)


# Loops and grids ------------------------------------------------------------------------------------------------


def test_python_sees_the_exact_iteration():
    @jit
    def kernel(x):
        out = output(x)
        for i in nl.affine_range(8):
            tile = nl.load(x[i * 16 : (i + 1) * 16, :])
            if i < 3:
                tile[...] = nl.multiply(tile, 2.0)
            elif i == 5:
                continue
            nl.store(out[i * 16 : (i + 1) * 16, :], tile)
        nl.store(out[80:96, :], 7.0)
        return out

    expected = X.copy()
    expected[:48] *= 2
    expected[80:96] = 7
    assert (both(kernel, X) == expected).all()
    assert [node.bounds for node in trace(kernel, X) if isinstance(node, Loop)] == [(0, 3), (3, 5), (5, 6), (6, 8)]


def test_block_dimensions_are_separate_tiles():
    @jit
    def kernel(x):
        out = output(x)
        tiles = nl.ndarray((4, nl.par_dim(32), 64), dtype=x.dtype, buffer=nl.sbuf)
        total = nl.zeros((2, 2, nl.par_dim(32), 64), dtype=x.dtype, buffer=nl.sbuf)
        for i in nl.sequential_range(4):
            tiles[i] = nl.load(x[i * 32 : (i + 1) * 32, :])
        for i in nl.affine_range(2):
            for j in nl.affine_range(2):
                total[i, j] += tiles[2 * i + j]
                nl.store(out[(2 * i + j) * 32 : (2 * i + j + 1) * 32, :], total[i, j])
        return out

    assert (both(kernel, X) == X).all()


def test_tiles_of_a_loop_end_with_it():
    @jit
    def kernel(x):
        out = output(x)
        for _ in nl.affine_range(2):
            tile = nl.load(x)
        nl.store(out, tile)
        return out

    for frontend in ("beta2", "beta3"):
        with pytest.raises(NKISyntaxError, match=r"tile\.\d+ was created in a loop that has ended"):
            kernel.trace((X,), {}, frontend=frontend)


def test_outputs_are_made_outside_of_loops():
    @jit
    def kernel(x):
        for _ in nl.affine_range(2):
            output(x)

    with pytest.raises(NKIRuntimeError, match="must be created at the top level of the kernel"):
        kernel.trace((X,), {}, frontend="beta3")


@jit
def by_program(x):
    out = output(x)
    i, j = nl.program_id(0), nl.program_id(1)
    assert (nl.num_programs(), nl.num_programs(0), nl.num_programs([1])) == (8, 4, 2)
    assert nl.program_ndim() == 2
    rows, columns = i * 32 + nl.arange(32)[:, None], j * 32 + nl.arange(32)[None, :]
    tile = nl.load(x[rows, columns])
    if i == 1:
        tile += 1.0
    nl.store(out[rows, columns], tile)
    return out


@pytest.mark.parametrize("grid", [(4, 2), (nl.nc(2) * 2, 2), (nl.spmd_dim(2, nl.nc(2)), 2)])
def test_a_grid_runs_all_programs(grid):
    expected = X.copy()
    expected[32:64] += 1
    np.testing.assert_allclose(both(by_program[grid], X), expected, rtol=1e-6)


def test_programs_stay_a_loop_where_they_do_the_same():
    bounds = [node.bounds for node in trace(by_program[4, 2], X)]
    assert bounds == [(0, 1), (1, 2), (2, 4)]


def test_program_ids_need_a_grid():
    with pytest.raises(NKIIndexError, match="program axis 0 is out of bounds for a grid of 0 dimensions"):
        by_program.trace((X,), {}, frontend="beta3")


# numpy ----------------------------------------------------------------------------------------------------------


def test_numpy_functions_record_instructions():
    Y = np.abs(X) + 0.5

    def kernel(x):
        y = np.add(np.exp(x), np.float32(2) * x) / np.sqrt(x)
        return np.maximum(y, 0.5) - np.max(x, axis=1, keepdims=True)

    expected = np.maximum((np.exp(Y) + 2 * Y) / np.sqrt(Y), 0.5) - Y.max(axis=1, keepdims=True)
    np.testing.assert_allclose(both(mapped(kernel), Y), expected, rtol=1e-5, atol=1e-5)


def test_numpy_reductions_selection_and_out():
    def kernel(x):
        total = np.add.reduce(x, axis=1)
        made = np.where(x > 0, x, total)
        np.multiply(made, 2.0, out=made)
        return made

    expected = 2 * np.where(X > 0, X, X.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(both(mapped(kernel), X), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: np.hypot(t, t), "numpy.hypot does not work on tiles"),
        (lambda t: np.add.accumulate(t), "numpy.add.accumulate does not work on tiles"),
        (lambda t: np.exp(t, where=True, casting="unsafe"), "numpy.exp: unsupported arguments: casting, where"),
        (lambda t: np.median(t), "numpy.median does not work on tiles"),
        (lambda t: np.linalg.norm(t), "numpy.linalg.norm does not work on tiles; use a function of nl [numpy]"),
        (lambda t: np.array(t), "tensor t.1 has no values while tracing"),
        (lambda t: list(t), "cannot iterate over tensor t.1"),
        (lambda t: float(t), "tensor t.1 is no number"),
        (lambda t: t + np.ones((128, 64)), "add: y must be a tile or a number, got ndarray"),
    ],
)
def test_what_numpy_and_python_cannot_have(call, text):
    @jit
    def kernel(x):
        t = nl.load(x)
        return call(t)

    with pytest.raises(NKITypeError) as caught:
        kernel.trace((X,), {}, frontend="beta3")
    assert text in str(caught.value)


def test_operators():
    def kernel(x, y):
        return (-x + y) * 2.0 - 1.0 / y + (x - 3) * (x > y) + (2.0 - x) ** 2

    Y = np.abs(data(128, 64, seed=3)) + 0.5
    expected = (-X + Y) * 2 - 1 / Y + (X - 3) * (X > Y) + (2 - X) ** 2
    np.testing.assert_allclose(both(mapped(kernel), X, Y), expected, rtol=1e-4, atol=1e-5)


def test_operators_do_not_broadcast_over_partitions():
    with pytest.raises(NKIValueError, match="add: operands have different numbers of partitions: 1, 128"):
        mapped(lambda x: x + x[0:1, :]).trace((X,), {}, frontend="beta3")


def test_a_condition_on_a_tile_has_no_answer():
    with pytest.raises(NKIValueError, match="a tensor has no single truth value"):
        mapped(lambda x: -x if x > 0 else x).trace((X,), {}, frontend="beta3")


def test_types_compare_with_those_of_numpy():
    def kernel(x):
        assert x.dtype == nl.float32
        assert x.dtype != nl.bfloat16
        assert x.dtype == np.dtype("float32")
        assert x.itemsize == 4
        return x

    mapped(kernel).trace((X,), {}, frontend="beta3")


def test_functions_that_are_missing_say_so():
    with pytest.raises(NKINotImplementedError, match=r"nl\.rand is not supported by this front end"):
        mapped(lambda x: nl.rand((128, 64))).trace((X,), {}, frontend="beta3")
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nl.nonsense


def test_errors_have_the_place_in_the_kernel():
    with pytest.raises(KernelError) as caught:
        mapped(lambda x: nl.matmul(x, x)).trace((X,), {}, frontend="beta2")
    assert str(caught.value).startswith(
        "matmul: contraction sizes of operands with shapes (128, 64) and (128, 64) differ"
    )
    assert caught.value.location.file == __file__


def test_indices_cannot_be_assigned():
    @jit
    def kernel(x):
        rows = nl.arange(128)[:, None]
        rows[0] = 1

    with pytest.raises(NKITypeError, match="an index grid holds no memory and cannot be assigned to"):
        kernel.trace((X,), {}, frontend="beta3")
