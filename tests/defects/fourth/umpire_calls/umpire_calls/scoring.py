"""How a tennis game is counted, and how a call is read."""

POINTS = ("0", "15", "30", "40")
OTHER_NAMES = {"love": "0", "zero": "0", "fifteen": "15", "thirty": "30", "forty": "40", "ad": "advantage"}


def score(points: str) -> str | None:
    """The score after these points ("S" and "R"), or None if the game was over before the end."""
    server = receiver = 0
    for place, point in enumerate(points):
        server += point == "S"
        receiver += point == "R"
        if max(server, receiver) >= 4 and abs(server - receiver) >= 2:
            if place < len(points) - 1:
                return None
            return "game server" if server > receiver else "game receiver"
    if server >= 3 and receiver >= 3:
        if server == receiver:
            return "deuce"
        return "advantage server" if server > receiver else "advantage receiver"
    return f"{POINTS[server]}-{POINTS[receiver]}"


def call(text: str) -> str | None:
    """The score that a text calls on its last "Score:" line, in one spelling."""
    called = None
    for line in text.splitlines():
        label, colon, rest = line.partition(":")
        if colon and label.strip(" \t*_#>-").lower() == "score" and len(rest) < 80:
            words = rest.strip(" \t.*_`").lower().replace("\u2013", "-").replace("-", " ").split()
            words = [OTHER_NAMES.get(word, word) for word in words]
            if len(words) == 2 and words[1] == "all":
                words[1] = words[0]
            called = ("-" if words and words[0] in POINTS else " ").join(words)
            called = "deuce" if called == "40-40" else called
    return called
