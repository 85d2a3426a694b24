"""Documents of paragraphs and tables, and how they are laid out for a terminal, a pipe or Markdown."""
