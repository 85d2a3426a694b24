"""The fit check of the node as a whole, after the managers (docs/rules/admission-fit.md)."""
