"""Runs BIR on numpy: real memory, the numbers of the hardware as far as they are published, every access checked."""

from nki_mlir.simulator.machine import Result, simulate
from nki_mlir.simulator.program import MOST_ITERATIONS, MOST_REPEATED

__all__ = ["MOST_ITERATIONS", "MOST_REPEATED", "Result", "simulate"]
