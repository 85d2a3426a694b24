"""One module a command: read flags, call a task, render."""
