"""Rules on the engine that runs an instruction, and on what an engine can reach and compute."""

from typing import Any

from nki_mlir.isa.enums import AluOp, Engine
from nki_mlir.isa.operands import Operands
from nki_mlir.isa.rules.base import PSUM, Rule, any_of
from nki_mlir.isa.target import Target


class OnEngine(Rule):
    """The instruction runs on one of some engines (unassigned: a later pass chooses; all: every engine)."""

    ID = "BIR606"
    engines: frozenset[Engine]

    @property
    def statement(self) -> str:
        return f"engine must be {any_of(sorted(self.engines))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        engine = operands.parameters.get("engine")
        if engine is None or engine in self.engines or engine in (Engine.UNASSIGNED, Engine.ALL):
            return None
        return f"engine is {engine}, it must be {any_of(sorted(self.engines))}"


class OpOnEngines(Rule):
    """With some values of a parameter, only some engines can run the instruction."""

    ID = "X-OPENG"
    parameter: str
    ops: frozenset[Any]
    engines: frozenset[Engine]

    @property
    def statement(self) -> str:
        return f"{self.parameter} {any_of(sorted(self.ops))} runs on {any_of(sorted(self.engines))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op, engine = operands.parameters.get(self.parameter), operands.parameters.get("engine")
        if op not in self.ops or engine is None or engine in (Engine.UNASSIGNED, Engine.ALL) or engine in self.engines:
            return None
        return f"engine is {engine}, {self.parameter} {op} needs {any_of(sorted(self.engines))}"


class OpPairsOn(Rule):
    """An engine runs only some pairs of operators."""

    ID = "BIR444"
    engine: Engine
    pairs: frozenset[tuple[AluOp, AluOp | None]]

    @property
    def statement(self) -> str:
        return f"on {self.engine}, (op0, op1) must be {any_of(sorted(_pair(*p) for p in self.pairs))}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if operands.parameters.get("engine") is not self.engine:
            return None
        op1 = operands.parameters.get("op1")
        found = operands.parameters.get("op0"), None if op1 is AluOp.BYPASS else op1
        if found in self.pairs or found[0] is None:
            return None
        return (
            f"operators are {_pair(*found)}, engine {self.engine} takes {any_of(sorted(_pair(*p) for p in self.pairs))}"
        )


def _pair(first: AluOp | None, second: AluOp | None) -> str:
    return f"({first}, {second or '-'})"


class NotInPsumOn(Rule):
    """Operands are not in PSUM when the instruction runs on an engine that cannot reach it."""

    ID = "X-GPPSUM"
    engine: Engine
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        return f"{any_of(self.roles)} must be in sbuf on {self.engine}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        if operands.parameters.get("engine") is not self.engine:
            return None
        for role in self.roles:
            for name, operand in operands.of(role):
                if operand.space is PSUM:
                    return f"{name} is in psum, which engine {self.engine} cannot access"
        return None


class OpNotInPsum(Rule):
    """Some operators run on an engine that cannot reach PSUM, whether it is named yet or not."""

    ID = "X-GPPSUM"
    parameters: tuple[str, ...]
    ops: frozenset[AluOp]
    engine: Engine
    roles: tuple[str, ...]

    @property
    def statement(self) -> str:
        ops = any_of(sorted(self.ops))
        return f"{any_of(self.roles)} must be in sbuf with {any_of(self.parameters)} {ops}, which runs on {self.engine}"

    def check(self, operands: Operands, target: Target | None) -> str | None:
        op = next((op for name in self.parameters if (op := operands.parameters.get(name)) in self.ops), None)
        if op is None:
            return None
        for role in self.roles:
            for name, operand in operands.of(role):
                if operand.space is PSUM:
                    return f"{name} is in psum, {op} runs on engine {self.engine}, which cannot access it"
        return None
