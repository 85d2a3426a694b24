"""What people read: a view a result."""
