"""The ResourceSlices that the usual drivers would publish for a machine, before any of them is installed."""
