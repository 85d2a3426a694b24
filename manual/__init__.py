"""Makes the manual of numalign's own --help: man pages for the wheel, and the page of all commands for the site."""
