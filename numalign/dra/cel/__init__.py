"""The expression language of device selectors: CEL in the environment that Kubernetes gives it.

A text goes through `tokens` and `parser` to a tree, `checker` types it, `program` turns it into closures. `device` says
what the variable `device` is and is the entrance from outside.

Why our own and no library: what decides a selector is Kubernetes' environment (`quantity`, `semver`, errors that `&&`
absorbs, an empty map for an unknown domain, cost limits), which none of the libraries on PyPI has; each of them costs
between 275 and 560 ms at every start, which is more than a whole `admit`.
"""
