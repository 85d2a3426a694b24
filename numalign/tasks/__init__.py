"""What numalign can do, one module a use case: a task takes values and returns one result; it prints nothing.

A use case has its command's name, but: `suite` is `test`, `about` is `version` and `doctor`, `node_state` is `release`,
`upgrade` is a form of `compare`, `dra_*` of `dra`. What several of them share:
- what a question is about: `requests`, `setup`, `place`, `node`, `node_files`, `cluster`;
- an answer's parts: `problems`, `hardware_to_add`, `scenes`, `claimed`, `together`;
- many pieces of work: `parallel`.
"""
