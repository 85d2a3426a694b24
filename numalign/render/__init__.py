"""MODEL -> SCREEN: what people and programs read; the only users of rich."""
