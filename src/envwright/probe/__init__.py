"""TRY TO BREAK IT without a model: rules, and probes that gather evidence for them."""
