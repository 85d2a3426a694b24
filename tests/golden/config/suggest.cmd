numalign config suggest --machine xeon-2s-snc4
