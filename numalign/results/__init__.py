"""What the tasks answer: values that hold all that any output needs. Nothing here decides, reads or prints."""
