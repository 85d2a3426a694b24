"""Dynamic Resource Allocation: claims, the devices that drivers publish, and the scheduler's choice among them.

Pure: plain values in, plain values out (docs/rules/dra.md). `values` says what the objects are, `pools` which devices a
node offers, `allocator` which of them a claim gets, `cel` what a selector says about one of them.
"""
