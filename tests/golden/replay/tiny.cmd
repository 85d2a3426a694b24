# status 2
numalign replay tests/golden/replay/tiny.jsonl
