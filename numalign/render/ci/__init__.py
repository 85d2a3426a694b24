"""What build servers read: JUnit XML, GitHub annotations, GitLab's Code Quality report, SARIF."""
