"""EW6: tools and episodes: what an agent can do besides answering."""
