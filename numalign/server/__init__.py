"""numalign behind a socket or a pipe: the scheduler extender over HTTP, and the twin as an oracle."""
