"""NodeResourceTopology objects: what they say, what is odd about them, and the machines behind them."""
