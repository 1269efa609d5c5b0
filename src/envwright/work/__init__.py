"""Job handlers, one file per kind of job, and the verbs that the edges call."""
