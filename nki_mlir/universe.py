"""What nki-mlir adds to xDSL; plain `xdsl-opt` finds it through the entry point `xdsl.universe`."""

from xdsl.universe import Universe

from nki_mlir.dialects import get_all_dialects
from nki_mlir.transforms import get_all_passes

UNIVERSE = Universe(all_dialects=get_all_dialects(), all_passes=get_all_passes())
