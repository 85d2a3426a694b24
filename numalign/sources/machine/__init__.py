"""Machine files, short forms, bundled machines and hwloc's XML."""
