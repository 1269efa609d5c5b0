"""IS IT SOUND: six checks over gathered evidence → `Scorecard`, pure; renderings."""
