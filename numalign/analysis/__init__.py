"""What a decision means: alignment, reasons, verified changes, comparisons, findings. Pure, like the twin itself."""
