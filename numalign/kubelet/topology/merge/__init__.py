"""From the providers' hints to one hint, without enumerating the cross product; `topology.policy.merge` chooses how.

`lists` has the rule: which hint wins, ties included, is decided by `preferred_key` and `non_preferred_key`. `families`
finds the same winner for hints that are never listed, with the searches of `best_set` under the `limits`, which few
pods need; `walk` goes step by step as the kubelet does, for distance rows that are too short.
"""
