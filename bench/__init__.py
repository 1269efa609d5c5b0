"""Speed, as ratios in one run: machines are noisy, a ratio between neighbours is less so."""
