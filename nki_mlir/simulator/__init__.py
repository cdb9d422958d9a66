"""Runs BIR on numpy: real memory, the numbers of the hardware as far as they are published, every access checked."""

from nki_mlir.simulator.machine import MOST_ITERATIONS, Result, simulate

__all__ = ["MOST_ITERATIONS", "Result", "simulate"]
