"""The option decorators: messages, what they do to a kernel's options, and the scopes in the Penguin IR."""

import logging
import re
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import nki_mlir
from nki_mlir import nki, nki_legacy
from nki_mlir.diagnostics import NkiError
from nki_mlir.frontend.decorators import (
    enable_stack_allocator,
    force_auto_alloc,
    override_platform_target_for_test,
    skip_middle_end_transformations,
    update_allocator,
    update_compile_opts,
)
from nki_mlir.frontend.errors import NKIAssertionError, NKIRuntimeError, NKIValueError
from nki_mlir.frontend.options import AllocatorType, CompileOpts, OptLevel
from nki_mlir.isa.target import CORE_V4, SUNDA
from nki_mlir.nki_legacy import language as nl

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)
NOT_A_KERNEL = "Can only update compile options of nki kernel!"
NEEDS_SKIP = "Cannot set allocator for kernel without `@skip_middle_end_transformations`!"


@nki_legacy.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


DECORATORS = {
    "skip_middle_end_transformations": (
        skip_middle_end_transformations,
        kernel,
        CompileOpts(skip_middle_end=OptLevel.skip_middle_end),
    ),
    "force_auto_alloc": (force_auto_alloc, kernel, CompileOpts(force_auto_alloc=True)),
    "override_platform_target_for_test": (override_platform_target_for_test, kernel, CompileOpts()),
    "enable_stack_allocator": (
        enable_stack_allocator,
        skip_middle_end_transformations(kernel),
        CompileOpts(
            skip_middle_end=OptLevel.skip_middle_end,
            allocator_type=AllocatorType.stack,
            skip_allocators=OptLevel.skip_allocators,
        ),
    ),
}


def refusal(kind, function, rule="compile_opts"):
    """Returns the message of an error, which must be of exactly this kind, without the rule that it ends with."""
    with pytest.raises(kind) as raised:
        function()
    assert type(raised.value) is kind
    assert raised.value.rule == rule
    return str(raised.value).removesuffix(f" [{rule}]")


@pytest.mark.parametrize("name", DECORATORS)
def test_both_forms_give_a_new_kernel_and_leave_the_old_one(name):
    decorator, given, expected = DECORATORS[name]
    before = given.opts
    for result in (decorator(given), decorator()(given), decorator(func=given)):
        assert result is not given
        assert type(result) is type(given)
        assert result.opts == expected
        assert (result.func, result.generation, result.grid) == (given.func, given.generation, given.grid)
        np.testing.assert_array_equal(result(X), X)
    assert given.opts is before


def test_a_kernel_starts_without_options_and_its_options_cannot_be_changed():
    assert kernel.opts == CompileOpts(None, False, None, None, None)
    assert (kernel.opts.opt_level, kernel.opts.allocator_class) == (OptLevel.default, None)
    for field in fields(CompileOpts):
        with pytest.raises(FrozenInstanceError):
            setattr(kernel.opts, field.name, 1)


def test_skipping_the_middle_end_drives_the_level_and_the_allocator_its_class():
    skipped = skip_middle_end_transformations(kernel)
    assert skipped.opts.opt_level is OptLevel.skip_middle_end
    allocated = enable_stack_allocator(skipped, log_level=logging.DEBUG)
    assert allocated.opts == enable_stack_allocator(skipped).opts
    assert allocated.opts.opt_level is OptLevel.skip_middle_end
    assert allocated.opts.allocator_class is AllocatorType.stack


def test_decorators_stack_on_a_function():
    @nki.compiler.enable_stack_allocator
    @nki.compiler.skip_middle_end_transformations
    @nki_legacy.jit(platform_target="trn1")
    def stacked(x):
        return x

    assert stacked.opts == CompileOpts(AllocatorType.stack, False, SUNDA, OptLevel(1), OptLevel(2))


def test_the_grid_of_a_kernel_stays():
    assert force_auto_alloc(kernel[2]).grid == (2,)


def test_options_replace_earlier_ones_and_keep_the_others():
    first = update_compile_opts(platform_target=SUNDA, force_auto_alloc=True)(kernel)
    second = update_compile_opts(platform_target=CORE_V4)(first)
    assert second.opts == CompileOpts(platform_target=CORE_V4, force_auto_alloc=True)
    assert first.opts == CompileOpts(platform_target=SUNDA, force_auto_alloc=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        update_compile_opts(speed=1)(kernel)


@pytest.mark.parametrize("target", ["trn1", SUNDA])
def test_the_target_of_a_kernel_is_that_of_its_module(target):
    fixed = override_platform_target_for_test(platform_target=target)(kernel)
    assert fixed.opts == CompileOpts(platform_target=SUNDA)
    assert override_platform_target_for_test(kernel, platform_target=target).opts == fixed.opts
    assert fixed.trace((X,), {}, frontend="beta3").target is SUNDA
    assert fixed.trace((X,), {}, frontend="beta3", target=CORE_V4).target is CORE_V4


def test_a_target_that_does_not_exist():
    assert "unknown target 'trn9'" in refusal(NkiError, lambda: override_platform_target_for_test(kernel, "trn9"), "")


# Refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decorator",
    [
        skip_middle_end_transformations,
        force_auto_alloc,
        override_platform_target_for_test,
        enable_stack_allocator,
        update_allocator(AllocatorType.stack),
        update_compile_opts(),
    ],
)
@pytest.mark.parametrize("given", [kernel.func, 3, type(kernel)])
def test_only_kernels_have_options(decorator, given):
    assert refusal(NKIAssertionError, lambda: decorator(given)) == NOT_A_KERNEL
    assert issubclass(NKIAssertionError, AssertionError)


def test_an_allocator_needs_the_middle_end_skipped_below_it():
    assert refusal(NKIRuntimeError, lambda: enable_stack_allocator(kernel)) == NEEDS_SKIP
    assert refusal(NKIRuntimeError, lambda: enable_stack_allocator()(kernel)) == NEEDS_SKIP
    other = update_compile_opts(skip_middle_end=OptLevel.skip_allocators)(kernel)
    assert refusal(NKIRuntimeError, lambda: enable_stack_allocator(other)) == NEEDS_SKIP


def test_an_allocator_and_the_compilers_own_exclude_each_other_in_both_orders():
    skipped = skip_middle_end_transformations(kernel)
    assert (
        refusal(NKIRuntimeError, lambda: force_auto_alloc(enable_stack_allocator(skipped)))
        == "`@force_auto_alloc` is not compatible with `Allocator 'stack'`!"
    )
    expected = "Allocator 'stack' is not compatible with `@force_auto_alloc`!"
    assert refusal(NKIRuntimeError, lambda: enable_stack_allocator(force_auto_alloc(skipped))) == expected
    # The conflict is named before the missing option, as the original checks it first.
    assert refusal(NKIRuntimeError, lambda: enable_stack_allocator(force_auto_alloc(kernel))) == expected
    assert issubclass(NKIRuntimeError, RuntimeError)


def test_one_allocator_only():
    allocated = enable_stack_allocator(skip_middle_end_transformations(kernel))
    assert enable_stack_allocator(allocated).opts == allocated.opts

    class Other:
        name = "other"

    assert (
        refusal(NKIRuntimeError, lambda: update_allocator(Other)(allocated))
        == "Allocator already set on nki kernel: 'stack'"
    )


def test_a_mode_that_jit_does_not_have():
    message = refusal(NKIValueError, lambda: nki_legacy.jit(mode="fast"), "jit")
    assert "'fast' passed to nki.jit" in message
    for mode in ("jax", "torchxla", "baremetal", "benchmark", "simulation", "auto"):
        assert nki_legacy.jit(kernel.func, mode=mode).opts == CompileOpts()


# Scopes ---------------------------------------------------------------------------------------------------------

SCOPES = {
    "no_reorder": (lambda compiler: compiler.no_reorder(), 'penguin.scope "no_reorder" no_reorder {'),
    "multi_buffer": (lambda compiler: compiler.multi_buffer(), 'penguin.scope "multi_buffer" multi_buffer 2 {'),
    "multi_buffer(3)": (lambda compiler: compiler.multi_buffer(3), 'penguin.scope "multi_buffer" multi_buffer 3 {'),
    "factor=4": (lambda compiler: compiler.multi_buffer(factor=4), 'penguin.scope "multi_buffer" multi_buffer 4 {'),
    "allocation_scope": (lambda compiler: compiler.allocation_scope(), 'penguin.scope "allocation_scope" {'),
}


def scopes(module):
    return re.findall(r"penguin\.scope .*", str(module))


@pytest.mark.parametrize("compiler", [nki.compiler, nki_legacy.compiler])
@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_is_in_the_penguin_ir_around_what_it_holds(name, compiler):
    opened, expected = SCOPES[name]

    @nki_legacy.jit
    def scoped(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        with opened(compiler):
            tile = nl.exp(tile)
        nl.store(out, tile)
        return out

    module = nki_mlir.compile(scoped, X, emit="penguin")
    assert scopes(module) == [expected]
    inside = str(module).split(expected)[1].split("}\n")[0]
    assert "penguin.activation" in inside
    assert "penguin.load" not in inside
    assert "penguin.save" not in inside


def test_scopes_nest_and_close_where_the_block_ends_by_an_exception():
    @nki_legacy.jit
    def scoped(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        try:
            with nki.compiler.multi_buffer(2), nki.compiler.no_reorder():
                tile = nl.load(x)
                raise KeyError
        except KeyError:
            pass
        with nki.compiler.allocation_scope():
            nl.store(out, tile)
        return out

    lines = str(nki_mlir.compile(scoped, X, emit="penguin")).splitlines()
    depth = [(len(line) - len(line.lstrip()), line.split('"')[1]) for line in lines if "penguin.scope" in line]
    outer = depth[0][0]
    assert depth == [(outer, "multi_buffer"), (outer + 2, "no_reorder"), (outer, "allocation_scope")]
    np.testing.assert_array_equal(scoped(X), X)


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (0, "multi_buffer: factor must be a positive number of buffers, got 0"),
        (1 << 31, "multi_buffer: factor must be a positive number of buffers, got 2147483648"),
        ("2", "multi_buffer: factor must be an integer, got str"),
    ],
)
def test_a_factor_that_is_no_number_of_buffers(factor, message):
    @nki_legacy.jit
    def scoped(x):
        with nki.compiler.multi_buffer(factor):
            pytest.fail("the scope was entered")

    with pytest.raises(NkiError) as caught:
        nki_mlir.compile(scoped, X)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_outside_of_a_kernel(name):
    with pytest.raises(NkiError), SCOPES[name][0](nki.compiler):
        pytest.fail("the scope was entered")
