"""Reading and writing at places that an array names: indexing, gather, scatter."""
