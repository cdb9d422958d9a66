"""An open MLIR-style compiler and simulator for the Neuron Kernel Interface."""

__version__ = "0.1.0"
