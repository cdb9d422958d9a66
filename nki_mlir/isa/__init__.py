"""The hardware in plain Python: targets, dtypes, published enums, rules and instructions.

Nothing here knows an IR, and importing it does not load numpy.
"""
