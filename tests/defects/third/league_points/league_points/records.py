"""Records of seasons. Football changed from two points for a win to three in 1981."""

POINTS_FOR_A_WIN = {"1978/79": 2, "1995/96": 3}

TEAMS = ["Rovers", "Albion", "Harriers", "Athletic", "Wanderers", "Orient"]
SHAPES = [(20, 12, 10), (17, 9, 16), (24, 8, 10)]

# every team's record in both seasons that the almanac covers
FOOTBALL = [
    (team, season, wins + shift % 3, draws, defeats - shift % 3)
    for season in POINTS_FOR_A_WIN
    for shift, team in enumerate(TEAMS[:4])
    for wins, draws, defeats in SHAPES
]

HOCKEY = [
    (team, wins, overtime, 82 - wins - overtime)
    for team in ("Bears", "Comets", "Falcons", "Icebreakers")
    for wins, overtime in (
        (31 + len(team), 7),
        (40 + len(team), 11),
        (25 + len(team), 5),
        (36 + len(team), 9),
    )
]
