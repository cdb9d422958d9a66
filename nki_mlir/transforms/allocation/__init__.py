"""Address assignment: the problem as all allocators see it, the liveness it rests on, and the allocators."""
