numalign compare --hints
