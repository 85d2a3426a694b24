"""What numalign can do, one module a use case: a task takes values and returns one result; it prints nothing.

A use case has its command's name, but: `suite` is `test`, `about` is `version` and `doctor`, `node_state` is `release`,
`right_size` and `mix` are forms of `capacity`, `upgrade` of `compare`, `dra_*` of `dra`. What several of them share:
- what a question is about: `requests`, `setup`, `place`, `node`, `node_files`, `cluster`, `history`;
- an answer's parts: `pod_result`, `what_if`, `missing`, `gangs`, `copies`, `hardware`, `before_after`;
- claims beside the kubelet: `claim_desk`, `claimed`, `claimed_node`, `claims_verdict`, `plugin_way`, `ways_out`;
- many pieces of work: `parallel` (sent to processes or to Dask), `spread` (inherited by processes).
"""
