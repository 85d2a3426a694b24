"""What numalign can do, one module a use case: a task takes values and returns one result; it prints nothing."""
