"""The tracing front end: a kernel as plain Python under a context, recorded and built into Penguin or KLR."""
