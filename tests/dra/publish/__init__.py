"""The slices that drivers would publish."""
