"""What build servers read: JUnit XML and GitHub annotations."""
