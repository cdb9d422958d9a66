"""`simulate`: runs a BIR module on numpy arrays."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects import builtin
from xdsl.ir import Operation

from nki_mlir.diagnostics import NkiError
from nki_mlir.dialects.bir.structure import FuncOp, ModuleOp, TensorOp
from nki_mlir.dialects.instruction import InstructionOp, operands_of
from nki_mlir.dialects.locations import place_of
from nki_mlir.isa.enums import TensorKind
from nki_mlir.isa.names import unknown
from nki_mlir.isa.target import Target, default_target
from nki_mlir.simulator.errors import located
from nki_mlir.simulator.memory import WHOLE, Array, Storage, check_size, separate
from nki_mlir.simulator.program import Budget, Function, definitions, unsupported
from nki_mlir.simulator.threads import one_blas_thread
from nki_mlir.simulator.undefined import DEFINED, Undefined


@dataclass
class Result:
    """What a run leaves behind.

    outputs  the tensors of an output kind by name, in the order of their definitions
    inputs   the final contents of those inputs that the program wrote
    """

    outputs: dict[str, Array] = field(default_factory=dict[str, Array])
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])


def simulate(
    module: ModuleOp | builtin.ModuleOp,
    inputs: Mapping[str, Any],
    *,
    poison: bool = True,
    target: Target | None = None,
    most_iterations: int | None = None,
) -> Result:
    """Runs a verified BIR module, or a builtin module that holds one, on the given inputs.

    `inputs` has an array for every tensor of an input kind, of exactly its shape and dtype (bf16 and fp8 are those of
    ml_dtypes, an x4 type is the unsigned integer of its size; a tensor of several blocks has them as first dimension),
    and may have one for a tensor of kind `const`. The arrays are not changed. Functions run one after another, each
    with an SBUF and PSUM of its own.

    With `poison`, an output that is not written whole is an error, and so is reading what was never written, unless
    no output depends on it.
    `target` tells what the module itself does not; without either the default target holds.

    Raises NkiError at the place of the op that cannot run, for inputs that are missing, surplus or wrong, and when the
    program takes more than `most_iterations` iterations of loops and branches: before it runs if static loops alone do.
    By default these are MOST_ITERATIONS, and MOST_REPEATED steps in loops and branches that may not end.
    """
    program = _Program(find_module(module), target, poison=poison)
    budget = Budget(most_iterations)
    program.check(budget)
    program.fill(inputs)
    with np.errstate(all="ignore"), one_blas_thread():
        program.run(budget)
    return program.result()


def find_module(module: Operation) -> ModuleOp:
    """Returns the BIR module that is or stands in a module; NkiError if there is none, more than one, or other IR."""
    if isinstance(module, ModuleOp):
        return module
    if not isinstance(module, builtin.ModuleOp):
        raise located(unsupported(module), module)
    ops = list(module.body.ops)
    for op in ops:
        if not isinstance(op, ModuleOp):
            raise located(unsupported(op), op)
    if len(ops) != 1:
        raise NkiError(f"expected one bir.module, found {len(ops)}")
    return cast(ModuleOp, ops[0])


def tensors_of(module: ModuleOp) -> dict[str, TensorOp]:
    """Returns, by name and in order, the first definitions of the tensors that all functions share."""
    found: dict[str, TensorOp] = {}
    for op in definitions(module.body):
        if isinstance(op, TensorOp) and op.is_shared:
            found.setdefault(op.sym.data, op)
    return found


def input_tensors(module: ModuleOp) -> dict[str, TensorOp]:
    """Returns, by name and in order, the tensors that a run must or may be given."""
    return {
        op.sym.data: op
        for op in definitions(module.body)
        if isinstance(op, TensorOp) and op.is_shared and may_be_given(op)
    }


def may_be_given(op: TensorOp) -> bool:
    """Whether a run must or may be given the contents of a tensor."""
    return op.tensor_kind.is_input or op.tensor_kind is TensorKind.CONST


class _Tensor:
    """The tensor that all storages of one name are: its definitions and its memory."""

    def __init__(self, op: TensorOp) -> None:
        self.ops = [op]
        self.storage: Storage | None = None

    @property
    def op(self) -> TensorOp:
        return self.ops[0]

    @property
    def is_input(self) -> bool:
        return any(op.tensor_kind.is_input for op in self.ops)

    @property
    def is_output(self) -> bool:
        return any(op.tensor_kind.is_output for op in self.ops)

    @property
    def may_be_given(self) -> bool:
        return any(may_be_given(op) for op in self.ops)

    @property
    def is_written(self) -> bool:
        """Whether some instruction writes the tensor."""
        return any(_writes(use.operation, op) for op in self.ops for use in op.results[0].uses)


def _writes(user: Operation, tensor: TensorOp) -> bool:
    return isinstance(user, InstructionOp) and any(
        use.storage is tensor.results[0] for use in operands_of(user) if use.role.group == "outs"
    )


class _Program:
    """A module with the memory that its functions share."""

    def __init__(self, module: ModuleOp, target: Target | None, *, poison: bool) -> None:
        self._poison = poison
        self._undefined = Undefined() if poison else None
        self._own_target = target or module.target
        self._target = self._own_target or default_target()
        self._functions: list[FuncOp] = []
        self._tensors: dict[str, _Tensor] = {}
        for block in module.body.blocks:
            for op in block.ops:
                if not isinstance(op, FuncOp):
                    raise located(unsupported(op), op)
                self._functions.append(op)
        for func in self._functions:
            self._declare(func)

    def _declare(self, func: FuncOp) -> None:
        apart: dict[str, TensorOp] = {name: tensor.op for name, tensor in self._tensors.items()}
        for op in definitions(func.body):
            if not isinstance(op, TensorOp):
                continue
            name = op.sym.data
            if op.is_shared:
                tensor = self._tensors.get(name)
                if tensor is None:
                    self._tensors[name] = _Tensor(op)
                elif tensor.op.mem.data[1:] != op.mem.data[1:]:
                    raise _tensor_error(
                        op, f"'{name}' is {_form(op)} here and {_form(tensor.op)} elsewhere, but it is one tensor"
                    )
                else:
                    tensor.ops.append(op)
            apart[name if op.is_shared else f"{name}#{len(apart)}"] = op
        check_size([op for op in apart.values() if op.places is None or not op.mem.on_chip], self._poison)

    def fill(self, inputs: Mapping[str, Any]) -> None:
        """Allocates the shared tensors and puts the inputs into them."""
        known = [name for name, tensor in self._tensors.items() if tensor.may_be_given]
        for name in inputs:
            if name not in known:
                raise unknown("input", name, known) if known else NkiError(f"the program has no inputs, got '{name}'")
        for name, tensor in self._tensors.items():
            if name in inputs:
                array = _checked(tensor.op, inputs[name])
                written = tensor.is_written
                storage = separate(tensor.op, _bytes(array, copy=written), shadow=self._poison and written)
                for place in storage.places[:1]:
                    if place.shadow is not None:
                        place.shadow.fill(DEFINED)
                tensor.storage = storage
            elif tensor.is_input:
                missing = [n for n, t in self._tensors.items() if t.is_input and n not in inputs]
                others = f" ({len(missing)} inputs are missing: {', '.join(missing)})" if len(missing) > 1 else ""
                raise _tensor_error(tensor.op, f"input '{name}' of type {_form(tensor.op)} was not given{others}")
            else:
                tensor.storage = separate(tensor.op, shadow=self._poison)

    def check(self, budget: Budget) -> None:
        """Raises NkiError for a program that is known to take more iterations than it may."""
        budget.check(self._functions)

    def run(self, budget: Budget) -> None:
        """Runs the functions one after another, each on a core of its own."""
        shared = {name: tensor.storage for name, tensor in self._tensors.items() if tensor.storage is not None}
        for func in self._functions:
            Function(
                func, shared, self._target, memory_target=self._own_target, undefined=self._undefined, budget=budget
            ).run()

    def result(self) -> Result:
        """Returns the outputs; NkiError for one that was not written."""
        found = Result()
        for name, tensor in self._tensors.items():
            assert tensor.storage is not None
            if tensor.is_output:
                self._check_written(tensor)
                found.outputs[name] = tensor.storage.array()
            elif tensor.is_input and tensor.is_written:
                self._check_defined(tensor, f"input '{name}', which the program writes")
                found.inputs[name] = tensor.storage.array()
        return found

    def _check_written(self, tensor: _Tensor) -> None:
        assert tensor.storage is not None
        name = tensor.op.sym.data
        if not tensor.is_written and not tensor.is_input:
            raise _tensor_error(tensor.op, f"output '{name}' was never written")
        if tensor.storage.places[0].shadow is None:
            return
        self._check_defined(tensor, f"output '{name}'")
        marks = tensor.storage.array(shadow=True)
        missing, first = _unwritten(marks.reshape(-1), WHOLE[tensor.op.mem.dtype.size])
        if missing == marks.size:
            raise _tensor_error(tensor.op, f"output '{name}' was never written")
        if missing:
            place = [int(index) for index in np.unravel_index(first, marks.shape)]
            raise _tensor_error(
                tensor.op,
                f"output '{name}' was written only in part: {missing} of {marks.size} elements were not, the first is"
                f" {place}",
            )

    def _check_defined(self, tensor: _Tensor, what: str) -> None:
        """Raises the error of the read from which a tensor has elements that are not defined."""
        storage = tensor.storage
        if not self._undefined or storage is None or storage.places[0].shadow is None:
            return
        error = self._undefined.error(storage.array(shadow=True))
        if error is not None:
            error.add_note(f"what is computed from them reaches {what}")
            raise error


def _unwritten(marks: Array, whole: int) -> tuple[int, int]:
    """Returns how many elements were not written, and the first of them; piece by piece, to take little memory."""
    missing, first = 0, 0
    for start in range(0, marks.size, _PIECE):
        piece = marks[start : start + _PIECE] != whole
        found = int(np.count_nonzero(piece))
        if found and not missing:
            first = start + int(piece.argmax())
        missing += found
    return missing, first


_PIECE = 1 << 20


def shape_of(op: TensorOp) -> tuple[int, ...]:
    """Returns the shape of the array that holds a tensor: several blocks are the first dimension."""
    return op.mem.shape if op.mem.blocks == 1 else (op.mem.blocks, *op.mem.shape)


def _tensor_error(op: TensorOp, message: str) -> NkiError:
    return NkiError(message, place_of(op.location))


def _form(op: TensorOp) -> str:
    return array_form(shape_of(op), op.mem.dtype.numpy)


def array_form(shape: Iterable[int], dtype: Any) -> str:
    """Returns how messages describe an array: `float32[512, 512]`."""
    return f"{np.dtype(dtype).name}{list(shape)}"


def _checked(op: TensorOp, value: Any) -> Array:
    array = np.asarray(value)
    if array.shape == shape_of(op) and array.dtype == op.mem.dtype.numpy:
        return array
    got = array_form(array.shape, array.dtype)
    raise _tensor_error(op, f"input '{op.sym.data}' must be {_form(op)}, got {got}")


def _bytes(array: Array, *, copy: bool) -> Array:
    """Returns the bytes of an array in row-major order; without `copy` they may be the array's own."""
    ordered = np.array(array, order="C") if copy else np.ascontiguousarray(array)
    return ordered.reshape(-1).view(np.uint8)
