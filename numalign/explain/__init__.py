"""AdmitResult -> ordered reasons and verified changes, as data (no colours, no widths)."""
