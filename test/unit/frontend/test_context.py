"""The context of a trace: accessors, gates, markers."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nki_mlir import nki
from nki_mlir.frontend.context import TraceContext, dont_trace, get_cur_scope, nki_ctx, nki_ctx_or_none
from nki_mlir.frontend.errors import NKIRuntimeError
from nki_mlir.nki import isa as nisa
from nki_mlir.nki import language as nl
from nki_mlir.nki_legacy import language as ll

X = np.zeros((128, 64), np.float32)


def traced(function: Any) -> Any:
    """Runs a function inside a trace and returns what it returns."""
    found: list[Any] = []

    @nki.jit
    def kernel(x: Any) -> None:
        found.append(function(x))

    kernel.trace((X,), {}, frontend="beta2")
    return found[0]


def test_there_is_no_context_outside_of_a_kernel() -> None:
    assert TraceContext.global_ctx is None
    assert nki_ctx_or_none() is None
    assert nki_ctx(allow_none=True) is None
    with pytest.raises(NKIRuntimeError, match="nki_api_outside_of_nki_kernel"):
        nki_ctx()
    with pytest.raises(NKIRuntimeError, match="nki_api_outside_of_nki_kernel"):
        get_cur_scope()
    with pytest.raises(NKIRuntimeError, match="nki_api_outside_of_nki_kernel"):
        nl.ndarray((128, 64), nl.float32)


@pytest.mark.parametrize(
    "name, call",
    [
        ("memset", lambda: nisa.memset(None, 0)),
        ("ndarray", lambda: nl.ndarray((4, 4), nl.float32)),
        ("affine_range", lambda: ll.affine_range(4)),
        ("load", lambda: ll.load(X)),
        ("store", lambda: ll.store(X, X)),
        ("add", lambda: ll.add(X, X)),
        ("sum", lambda: ll.sum(X, axis=1)),
        ("matmul", lambda: nl.matmul(X, X)),
        ("dma_copy", lambda: nisa.dma_copy(X, X)),
    ],
)
def test_what_was_called_outside_of_a_kernel_has_a_name(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises(NKIRuntimeError, match=f"^{name} can be called inside of a kernel only"):
        call()


def test_a_kernel_sees_one_context() -> None:
    assert traced(lambda x: nki_ctx() is nki_ctx_or_none() is TraceContext.global_ctx)
    assert traced(lambda x: get_cur_scope() is nki_ctx().recorder.body)
    assert TraceContext.global_ctx is None


def test_the_context_goes_with_an_exception() -> None:
    with pytest.raises(ZeroDivisionError):
        traced(lambda x: 1 / 0)
    assert nki_ctx_or_none() is None


def test_another_thread_sees_none() -> None:
    def look(x: Any) -> Any:
        seen: list[Any] = []
        thread = threading.Thread(target=lambda: seen.append(nki_ctx_or_none()))
        thread.start()
        thread.join()
        return seen

    assert traced(look) == [None]


def test_gates_of_call() -> None:
    calls: list[str] = []

    @dont_trace
    def concrete(x: Any) -> Any:
        calls.append("concrete")
        return x.shape

    @dont_trace()
    def concrete_too() -> int:
        return 7

    def body(x: Any) -> Any:
        context = nki_ctx()
        tile = context.call(nl.ndarray, x.shape, x.dtype)
        context.call(nisa.dma_copy, tile, x)
        assert len(get_cur_scope()) == 1
        assert context.call(concrete, x) == (128, 64)
        assert context.call(concrete_too) == 7
        assert context.call(np.add, 1, 2) == 3
        context.call(lambda: nisa.tensor_copy(tile, tile))
        return len(get_cur_scope())

    assert traced(body) == 2
    assert calls == ["concrete"]


def test_nki_functions_are_marked() -> None:
    for function in (nisa.nc_matmul, nisa.dma_copy, nl.ndarray):
        assert function.__nki_func__ is True
    assert not hasattr(np.add, "__nki_func__")
