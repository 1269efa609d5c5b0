"""Endings of the regular verbs."""

PERSONS = {
    "first person singular (yo)": 0,
    "second person singular (tú)": 1,
    "third person singular (ella)": 2,
    "first person plural (nosotros)": 3,
    "second person plural (vosotros)": 4,
    "third person plural (ellas)": 5,
}
VERBS = ("cantar", "hablar", "caminar", "trabajar", "comer", "beber", "aprender", "vender",
         "vivir", "escribir", "subir", "partir")  # fmt: skip
ENDINGS = {
    "present": {
        "ar": ("o", "as", "a", "amos", "áis", "an"),
        "er": ("o", "es", "e", "emos", "éis", "en"),
        "ir": ("o", "es", "e", "imos", "ís", "en"),
    },
    "preterite": {
        "ar": ("é", "aste", "ó", "amos", "asteis", "aron"),
        "er": ("í", "iste", "ió", "imos", "isteis", "ieron"),
        "ir": ("í", "iste", "ió", "imos", "isteis", "ieron"),
    },
}
FUTURE = ("é", "ás", "á", "emos", "éis", "án")


def form(verb: str, tense: str, person: int) -> str:
    if tense == "future":
        return verb + FUTURE[person]
    return verb[:-2] + ENDINGS[tense][verb[-2:]][person]
