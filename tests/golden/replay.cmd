# status 2
numalign replay tests/golden/tiny.jsonl
