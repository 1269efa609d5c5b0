"""Major and harmonic minor scales in fifteen keys each."""

FIFTHS = ["Cb", "Gb", "Db", "Ab", "Eb", "Bb", "F", "C", "G", "D", "A", "E", "B", "F#", "C#"]
LETTERS = "CDEFGAB"
NATURAL = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}
STEPS = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 11)}
SIGNS = {-2: "bb", -1: "b", 0: "", 1: "#", 2: "##"}
MINOR_TONICS = ["F", "C", "G", "D", "A", "E", "B", "F#", "C#", "G#", "D#", "Bb", "Eb"]


def pitch(note: str) -> int:
    return NATURAL[note[0]] + note.count("#") - note.count("b")


def scale(tonic: str, mode: str) -> list[str]:
    start = LETTERS.index(tonic[0])
    notes = []
    for degree, step in enumerate(STEPS[mode]):
        letter = LETTERS[(start + degree) % 7]
        sign = (pitch(tonic) + step - NATURAL[letter] + 6) % 12 - 6
        notes.append(letter + SIGNS[sign])
    return notes


KEYS = [(tonic, "major") for tonic in FIFTHS] + [(tonic, "minor") for tonic in MINOR_TONICS]
