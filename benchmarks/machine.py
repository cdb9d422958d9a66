"""How fast this machine is now: what xDSL itself costs an op, to read the other tables against.

    python benchmarks/machine.py

Parses and verifies 5,000 ops of xDSL's `arith` three times.
"""

import gc
import time

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

OPS = 5000


def main():
    context = Context()
    for dialect in (Builtin, Arith, Func):
        context.load_dialect(dialect)
    lines = [f"  %v{number} = arith.addi %a, %a : i32" for number in range(OPS)]
    text = "\n".join(["func.func @f(%a: i32) {", *lines, "  func.return", "}"])
    gc.disable()
    for _ in range(3):
        start = time.process_time()
        module = Parser(context, text).parse_module()
        parsed = time.process_time()
        module.verify()
        verified = time.process_time()
        parse, verify = 1e6 * (parsed - start) / OPS, 1e6 * (verified - parsed) / OPS
        print(f"arith.addi: parse {parse:.0f} µs, verify {verify:.0f} µs")


if __name__ == "__main__":
    main()
