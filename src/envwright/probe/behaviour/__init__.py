"""EW4: how scoring behaves, whatever it pays: does it end, repeat itself, keep to its range."""
