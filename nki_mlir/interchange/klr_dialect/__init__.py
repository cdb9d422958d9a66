"""KLR files as the klr dialect, and back: what was read is written to the same bytes."""

from nki_mlir.interchange.klr_dialect.reader import LAYOUTS, klr_to_module
from nki_mlir.interchange.klr_dialect.writer import module_to_klr

__all__ = ["LAYOUTS", "klr_to_module", "module_to_klr"]
