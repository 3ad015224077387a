// Nothing to import: see icudata.c.
