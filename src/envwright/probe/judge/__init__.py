"""What an environment makes of its judge, whom we play ourselves: no model is asked."""
