"""`neuronxcc.nki.isa.constants`: the enums of `neuronxcc.nki.isa`, which kernels import from either."""

from nki_mlir.nki_legacy.isa import dge_mode, engine, nc_version, oob_mode, reduce_cmd

__all__ = ["dge_mode", "engine", "nc_version", "oob_mode", "reduce_cmd"]
