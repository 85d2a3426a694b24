"""Makes the manual: man pages and the site's page of all commands, both of --help; and checks the site's links."""
