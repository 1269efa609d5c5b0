"""Cities and their latitudes in degrees, south negative. No two are nearer than half a degree
in one list (see the taskset)."""

LATITUDES = {
    "Reykjavik": 64.1, "Helsinki": 60.2, "Stockholm": 59.3, "Moscow": 55.8, "Copenhagen": 55.7,
    "Dublin": 53.3, "Berlin": 52.5, "London": 51.5, "Prague": 50.1, "Vancouver": 49.3,
    "Vienna": 48.2, "Montreal": 45.5, "Toronto": 43.7, "Rome": 41.9, "Madrid": 40.4,
    "Beijing": 39.9, "Lisbon": 38.7, "Athens": 38.0, "Tokyo": 35.7, "Casablanca": 33.6,
    "Cairo": 30.0, "Delhi": 28.6, "Miami": 25.8, "Havana": 23.1, "Hanoi": 21.0,
    "Mumbai": 19.1, "Manila": 14.6, "Bangkok": 13.8, "Caracas": 10.5, "Lagos": 6.5,
    "Singapore": 1.4, "Nairobi": -1.3, "Jakarta": -6.2, "Lima": -12.0, "Harare": -17.8,
    "Brisbane": -27.5, "Perth": -32.0, "Cape Town": -33.9, "Melbourne": -37.8,
    "Wellington": -41.3, "Ushuaia": -54.8,
}  # fmt: skip
