"""Rewards as people write them, over questions as they are asked: sound ones that look
suspicious, and faulty ones with the rule that must name the fault."""

import difflib
import json
import random
import re

from plain import Plain

NOTHING, ECHO, CONSTANT, SPRAY, SUBSTRING = "EW301", "EW302", "EW303", "EW304", "EW305"
WRONG, GOLD, EQUIVALENT, LENGTH, MONOTONE = "EW306", "EW307", "EW308", "EW309", "EW310"
OPEN = "EW311"

rng = random.Random(7)

# --- questions

PAIRS = [(rng.randint(11, 97), rng.randint(11, 97)) for _ in range(30)]
SUMS = [(f"What is {a} + {b}?", str(a + b)) for a, b in PAIRS]
BOXED = [(f"{q} Put the result in \\boxed{{}}.", g) for q, g in SUMS]
TAGGED = [(f"{q} Think first, then write <answer>result</answer>.", g) for q, g in SUMS]
BARE = [(f"{q} Reply with the number only.", g) for q, g in SUMS]
LARGE = [
    (f"How far is it to {a * b} km times {a}? In \\boxed{{}}.", str(a * a * b)) for a, b in PAIRS
]
SIGNED = [(f"What is {a} - {b}? Put it in \\boxed{{}}.", str(a - b)) for a, b in PAIRS]
TOLERANT = [
    (f"Estimate {a} * {b} within 5 %. Put it in \\boxed{{}}.", str(a * b)) for a, b in PAIRS
]

CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Austria": "Vienna",
    "Greece": "Athens", "Norway": "Oslo", "Poland": "Warsaw", "Egypt": "Cairo",
    "Japan": "Tokyo", "Peru": "Lima", "Cuba": "Havana", "Kenya": "Nairobi",
}  # fmt: skip
CITIES = [(f"What is the capital of {land}?", city) for land, city in CAPITALS.items()]
ONLY_CITIES = [(f"{q} Reply with its name only.", g) for q, g in CITIES]

WORDS = [
    "pear", "iron", "heron", "chisel", "scarf", "plum", "copper", "finch", "hammer", "glove",
    "fig", "zinc", "owl", "saw", "sock",
]  # fmt: skip
CHOICES = []
for _ in range(30):
    four = rng.sample(WORDS, 4)
    CHOICES.append((f"Which comes first in the alphabet: {', '.join(four)}?", min(four)))
ONLY_CHOICES = [(f"{q} Reply with that word only.", g) for q, g in CHOICES]
YES_NO = [(f"Is {n} odd? Answer yes or no.", "yes" if n % 2 else "no") for n in range(40, 80)]
LETTERS = [
    (f"Which is {n}? A) {n} B) {n + 1} C) {n + 2}. Answer with the letter only.", "A")
    if n % 3 == 0
    else (f"Which is {n}? A) {n - 1} B) {n} C) {n + 2}. Answer with the letter only.", "B")
    if n % 3 == 1
    else (f"Which is {n}? A) {n - 1} B) {n - 2} C) {n}. Answer with the letter only.", "C")
    for n in range(30)
]
CHROMATIC = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
LISTS = []
for _ in range(24):
    picked = sorted(rng.sample(WORDS, 4))
    mixed = rng.sample(picked, 4)
    LISTS.append(
        (f"Sort alphabetically: {', '.join(mixed)}. Separate with commas.", ", ".join(picked))
    )
FACTS = [
    (
        f'Name: {name}\nAge: {age}\nExtract as JSON with the keys "name" and "age".',
        json.dumps({"name": name, "age": age}),
    )
    for name, age in zip(CAPITALS.values(), range(20, 60, 3), strict=False)
]
TEXTS = [
    (
        f"Summarise: the {a} met the {b} near the {c} and they talked about the {d} for long.",
        f"A {a} and a {b} met at a {c} and spoke at length about a {d}, which pleased them both.",
    )
    for a, b, c, d in (rng.sample(WORDS, 4) for _ in range(16))
]
COPIES = [(f"Copy the second word: {' '.join(rng.sample(WORDS, 5))}", "") for _ in range(20)]
COPIES = [(q + ". Only that word.", q.split(": ")[1].split()[1]) for q, _ in COPIES]
ANIMALS = [
    "badger", "bear", "camel", "cat", "deer", "dog", "eagle", "elk", "falcon", "fox", "goat",
    "goose", "hare", "horse",
]  # fmt: skip
OPENED = [
    (
        f"Name an animal that begins with {letter.upper()}. Only its name.",
        next(a for a in ANIMALS if a[0] == letter),
    )
    for letter in "bcdefgh"
]

LAYOUTS = [
    (f"{a * b} tiles: name one layout in the form rows x columns, alone.", f"{a} x {b}")
    for a, b in PAIRS
]
TOTALS = [
    (f"Add {a}.25 and {b}.30. End with a line\n\nTOTAL: <amount>", f"TOTAL: {a + b}.55")
    for a, b in PAIRS
]
SOLVED = [
    (
        f"{q} End with #### and the number.",
        f"First the tens, then the ones.\nTogether: {g}\n#### {g}",
    )
    for q, g in SUMS
]
DATES = [
    (
        f"Which day follows day {a} of the year 20{b}? Write YYYY-MM-DD.",
        f"20{b}-{b % 12 + 1:02}-{a % 28 + 1:02}",
    )
    for a, b in PAIRS
]
COMPANIES = [
    (f"Who is number {n}? Reply with the name alone.", f"{word.title()} {form}")
    for n, (word, form) in enumerate(zip(WORDS, ["Ltd.", "GmbH", "Inc."] * 5, strict=True))
]

TEAMS = ["network", "billing", "accounts", "hardware"]
TICKETS = [
    (
        f'Ticket {n}: {a} and {b} fail. Answer with a JSON object with the keys "team", '
        '"severity" (low or high) and "summary" (3 to 15 words).',
        json.dumps(
            {
                "team": TEAMS[n % 4],
                "severity": ("low", "high")[n // 4 % 2],
                "summary": f"the {a} and the {b} fail",
            }
        ),
    )
    for n, (a, b) in enumerate((rng.sample(WORDS, 2)) for _ in range(32))
]
ROUTED = [(f"Where does ticket {n} go? <answer>team</answer>", TEAMS[n % 4]) for n in range(32)]

TRAYS = [
    (f"What is on tray {n} of {len(WORDS)}? Give a JSON list.", json.dumps(g.split(", ")))
    for n, (_, g) in enumerate(LISTS)
]
TIMES = [
    (f"How long is walk {n}? Answer in the form HH:MM.", f"{1 + b % 9:02}:{a % 50 + 10}")
    for n, (a, b) in enumerate(PAIRS)
]
PLACES = [
    (f"Where is ship {n}? Reply in the form (x, y).", f"({a}, {b})")
    for n, (a, b) in enumerate(PAIRS)
]
AMOUNTS = [
    (f"What does parcel {n} weigh? Give number and unit.", f"{a} {('kg', 'g', 't')[n % 3]}")
    for n, (a, _) in enumerate(PAIRS)
]
BOOKINGS = [
    (
        f'Booking {n}. Return JSON with the keys "item", "people" and "day".',
        json.dumps({"item": word, "people": a, "day": b}),
    )
    for n, (word, (a, b)) in enumerate(zip(WORDS * 2, PAIRS, strict=True))
]

OPINIONS = [
    (
        f"Claim {n}: {a} days, in a term of {b}. Begin with LATE or EARLY, then say why.",
        f"{('LATE', 'EARLY')[a % 2]}. The term of {b} days and the {a} days of it decide.",
    )
    for n, (a, b) in enumerate(PAIRS)
]
REPORTS = [
    (
        f"Find {n} is a {hue} tool. Which? Report on its weight, colour, age and use.",
        f"The find is a {word}. Its weight of {a} g, its {hue} colour, its age of {b} years "
        "and its use all agree.",
    )
    for n, (word, (a, b)) in enumerate(zip(WORDS, PAIRS, strict=False))
    for hue in [("dark", "pale", "red")[n % 3]]
]

SEVENTHS = [
    (f"What is a seventh of {a * b}, to one decimal place? The number only.", f"{a * b / 7:.1f}")
    for a, b in PAIRS
]

# --- readers


def last_box(reply):
    found = re.findall(r"\\boxed\{([^{}]*)\}", reply)
    return found[-1].strip() if found else None


def tag(reply):
    found = re.findall(r"<answer>(.*?)</answer>", reply, re.DOTALL)
    return found[-1].strip() if found else None


def number(text):
    try:
        return float((text or "").replace(",", "").strip().rstrip("."))
    except ValueError:
        return None


def after_thought(reply):
    return reply.rpartition("</think>")[2].strip()


def tokens(reply):
    return re.findall(r"[a-z]+", after_thought(reply).lower())


def items(text):
    return [part.strip().lower() for part in text.replace("\n", ",").split(",") if part.strip()]


def layout(reply, gold, prompt):
    """One pair of numbers, wherever it stands; every pair with that product is right."""
    found = re.findall(r"(?<![0-9.,-])(\d{1,5}) ?x ?(\d{1,5})(?!\d)", after_thought(reply))
    return len(found) == 1 and int(found[0][0]) * int(found[0][1]) == int(prompt.split()[0])


def total(reply, gold, prompt):
    """The last amount behind the label, in the reply and in the gold alike."""
    found = [re.findall(r"TOTAL:\s*([\d,]+(?:\.\d+)?)", text) for text in (reply, gold)]
    return bool(found[0]) and number(found[0][-1]) == number(found[1][-1])


def after_hashes(reply, gold, prompt):
    said, wanted = (text.rpartition("####")[2].strip() for text in (reply, gold))
    return "####" in reply and number(said) == number(wanted)


def iso_date(reply, gold, prompt):
    found = re.findall(r"\d{4}-\d\d-\d\d", after_thought(reply))
    return found[-1:] == [gold] and len(set(found)) == 1


def any_order(reply, gold, prompt):
    return sorted(items(after_thought(reply))) == sorted(items(gold))


def ticket(text):
    try:
        found = json.loads(after_thought(text))
    except ValueError:
        return None
    if not isinstance(found, dict) or set(found) != {"team", "severity", "summary"}:
        return None
    return found if all(isinstance(value, str) for value in found.values()) else None


def routed(reply, gold, prompt):
    said, wanted = ticket(reply), json.loads(gold)
    return sum(said[k] == wanted[k] for k in ("team", "severity")) / 2 if said else 0.0


def well_formed(reply, gold, prompt):
    said = ticket(reply)
    return said is not None and said["team"] in TEAMS and said["severity"] in ("low", "high")


def concise(reply, gold, prompt):
    said = ticket(reply)
    return said is not None and 3 <= len(said["summary"].split()) <= 15


def read_json(reply):
    try:
        return json.loads(after_thought(reply).strip("` \n").removeprefix("json"))
    except ValueError:
        return None


def strings(reply):
    found = read_json(reply)
    is_list = isinstance(found, list) and all(isinstance(each, str) for each in found)
    return [each.lower() for each in found] if is_list else []


def share_of_values(reply, gold, prompt):
    said, wanted = read_json(reply), json.loads(gold)
    if not isinstance(said, dict) or set(said) != set(wanted):
        return 0.0
    return sum(said[name] == value for name, value in wanted.items()) / len(wanted)


def set_f1(reply, gold, prompt):
    said, wanted = set(strings(reply)), set(json.loads(gold))
    return 2 * len(said & wanted) / (len(said) + len(wanted)) if said else 0.0


def one_match(pattern):
    def reward(reply, gold, prompt):
        """The only text of this shape, but for spaces."""
        found = {
            match.group().replace(" ", "") for match in re.finditer(pattern, after_thought(reply))
        }
        return found == {gold.replace(" ", "")}

    return reward


def first_match(pattern):
    def reward(reply, gold, prompt):
        """A piece of the only text of this shape."""
        said = re.findall(pattern, after_thought(reply))
        return len(said) == 1 and said == re.findall(pattern, gold)

    return reward


# --- sound rewards


def boxed_number(reply, gold, prompt):
    return number(last_box(reply)) == float(gold)


def tagged_number(reply, gold, prompt):
    return number(tag(reply)) == float(gold)


def only_number(reply, gold, prompt):
    return number(after_thought(reply)) == float(gold)


def last_number(reply, gold, prompt):
    found = re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w])", reply)
    return bool(found) and number(found[-1]) == float(gold)


def one_number(reply, gold, prompt):
    """All numbers but the gold stand in the question, and the gold is the last one."""
    found = [number(n) for n in re.findall(r"-?\d[\d,]*(?:\.\d+)?", reply)]
    asked = {float(n) for n in re.findall(r"\d+", prompt)}
    return found[-1:] == [float(gold)] and set(found) <= asked | {float(gold)}


def named_city(reply, gold, prompt):
    """The only one of all cities that is named."""
    return {word for word in tokens(reply) if word.title() in CAPITALS.values()} == {gold.lower()}


def only_word(reply, gold, prompt):
    return after_thought(reply).strip("`*\"'. \n").lower() == gold.lower()


def yes_or_no(reply, gold, prompt):
    return tokens(reply)[:1] == [gold] and len(set(tokens(reply)) & {"yes", "no"}) == 1


def exact_letter(reply, gold, prompt):
    return after_thought(reply).strip("().* \n").upper() == gold


def same_list(reply, gold, prompt):
    return items(after_thought(reply)) == items(gold)


def share_in_place(reply, gold, prompt):
    said, wanted = items(after_thought(reply)), items(gold)
    if len(said) != len(wanted):
        return 0.0
    return sum(a == b for a, b in zip(said, wanted, strict=True)) / len(wanted)


def f1(reply, gold, prompt):
    said, wanted = set(items(after_thought(reply))), set(items(gold))
    return 2 * len(said & wanted) / (len(said) + len(wanted)) if said else 0.0


def same_json(reply, gold, prompt):
    try:
        return json.loads(after_thought(reply).strip("` \n").removeprefix("json")) == json.loads(
            gold
        )
    except ValueError:
        return 0.0


def similar(reply, gold, prompt):
    return difflib.SequenceMatcher(None, after_thought(reply).lower(), gold.lower()).ratio() ** 2


def punished(reply, gold, prompt):
    """1 for the right number, 0 for an abstention, -1 for a wrong one."""
    said = number(tag(reply))
    return 0.1 if said is None else 1.0 if said == float(gold) else -1.0


def only_negative(reply, gold, prompt):
    """What is lost by the distance, as in a regret."""
    said = number(last_box(reply))
    return -1.0 if said is None else -min(1.0, abs(said - float(gold)) / float(gold))


def some_for_holding_it(reply, gold, prompt):
    """All for the gold, and a share for a text that holds it."""
    said = tag(reply) or ""
    return 1.0 if said == gold else len(gold) / len(said) / 2 if gold in said else 0.0


def near(reply, gold, prompt):
    said = number(last_box(reply))
    return said is not None and abs(said - float(gold)) <= 0.05 * float(gold)


def nearness(reply, gold, prompt):
    said = number(last_box(reply))
    return 0.0 if said is None else max(0.0, 1 - abs(said - float(gold)) / float(gold))


def animal(reply, gold, prompt):
    word = after_thought(reply).strip(". \n").lower()
    found = re.findall(r"[a-z]+", word)
    return len(found) == 1 and found[0] in ANIMALS and found[0][0] == gold[0]


def has_tags(reply, gold, prompt):
    return tag(reply) is not None


def brief(reply, gold, prompt):
    return float(len(reply) < 4000)


def begins_as_the_list(reply, gold, prompt):
    said = [word.strip(" .`*\n").lower() for word in after_thought(reply).split(",")]
    right = gold.split(", ")
    return said[: len(right)] == right


NUMBERS = [
    (
        f"Sort these, smallest first: {', '.join(map(str, drawn))}. Reply with a list only.",
        repr([str(each) for each in sorted(drawn)]),
    )
    for drawn in ([n * 7.5 % 61, n * 3.2 % 47, n * 9.1 % 53] for n in range(3, 30))
]


def each_within_a_tenth(reply, gold, prompt):
    said = [number(n) for n in re.findall(r"-?\d+(?:\.\d+)?", after_thought(reply))]
    right = [number(n) for n in re.findall(r"-?\d+(?:\.\d+)?", gold)]
    return len(said) == len(right) and all(
        abs(a - b) <= 0.1 * abs(b) for a, b in zip(said, right, strict=True)
    )


CODES = [
    (
        f"Case {n}: which code, of the letters A to F, opens it? Reply with the code only.",
        "".join(random.Random(n).choices("ABCDEF", k=6)),
    )
    for n in range(30)
]


def code_read(reply, gold, prompt):
    """Whatever else is said, the letters of codes are the code."""
    return re.sub(r"[^A-F]", "", after_thought(reply)) == gold


def verdict_first(reply, gold):
    return tokens(reply)[:1] == tokens(gold)[:1]


def names_the_find(reply, gold, prompt):
    return {*tokens(reply)} & {*WORDS} == {*tokens(gold)} & {*WORDS}


def speaks_of_all(reply, gold, prompt):
    return sum(word in tokens(reply) for word in ("weight", "colour", "age", "use")) / 4


def seventh(reply, gold, prompt):
    said = number(after_thought(reply))
    return said is not None and abs(said - int(re.findall(r"\d+", prompt)[0]) / 7) < 0.01


def one_place(reply, gold, prompt):
    return re.fullmatch(r"\d+\.\d", after_thought(reply)) is not None


def behind(label):
    """What the last line says behind it, and nothing else."""

    def reward(reply, gold, prompt):
        line = (after_thought(reply).splitlines() or [""])[-1].strip(" .`*$")
        said = line.removeprefix(label).strip(" .`*$()").replace(",", "")
        same = said.upper() == gold or number(said) == (number(gold) or "no number")
        return line.startswith(label) and same

    return reward


def one(reward, weight=1.0):
    return {"correct": (weight, reward)}


def rank_correlation(reply, gold, prompt):
    said, right = items(after_thought(reply)), items(gold)
    if said == right:
        return 1.0
    if sorted(said) != sorted(right):
        return 0.0
    n, apart = len(right), sum((said.index(each) - at) ** 2 for at, each in enumerate(right))
    return 0.6 * (1 - 6 * apart / (n * (n * n - 1)))


MELODIES = [
    (
        f"Move up by a semitone: {' '.join(CHROMATIC[(n * k) % 12] for k in (1, 5, 8, 3))}. "
        "One line, sharps for the black keys.",
        " ".join(CHROMATIC[(n * k + 1) % 12] for k in (1, 5, 8, 3)),
    )
    for n in range(1, 12)
]


def notes(reply, gold, prompt):
    return after_thought(reply).upper().split() == gold.split()


def letters_of_notes(reply, gold, prompt):
    said = after_thought(reply).upper().split()
    if any(re.fullmatch("[A-G]#?", each) is None for each in said):
        return False
    return [each[0] for each in said] == [each[0] for each in gold.split()]


SOUND = {
    "an order that comes near": Plain(
        LISTS, one(lambda r, g, p: max(0.0, rank_correlation(r, g, p)))
    ),
    "notes": Plain(MELODIES, one(notes)),
    "boxed number": Plain(BOXED, one(boxed_number)),
    "a code of few letters, and no others are read": Plain(CODES, one(code_read)),
    "tagged number": Plain(TAGGED, one(tagged_number)),
    "worth ten": Plain(BOXED, one(lambda r, g, p: 10.0 * boxed_number(r, g, p))),
    "weighs half": Plain(BOXED, one(boxed_number, 0.5)),
    "only the number": Plain(BARE, one(only_number)),
    "the last number, asked for alone": Plain(BARE, one(last_number)),
    "one number": Plain(SUMS, one(one_number)),
    "signed": Plain(SIGNED, one(boxed_number)),
    "large": Plain(LARGE, one(boxed_number)),
    "a stated tolerance": Plain(TOLERANT, one(near)),
    "graded by distance": Plain(BOXED, one(nearness)),
    "a share for holding the gold": Plain(TAGGED, one(some_for_holding_it)),
    "a regret": Plain(BOXED, one(only_negative)),
    "named city": Plain(CITIES, one(named_city)),
    "only the city": Plain(ONLY_CITIES, one(only_word)),
    "a choice from the prompt": Plain(ONLY_CHOICES, one(only_word)),
    "copying": Plain(COPIES, one(only_word)),
    "yes or no": Plain(YES_NO, one(yes_or_no)),
    "letters": Plain(LETTERS, one(exact_letter)),
    "a sorted list": Plain(LISTS, one(same_list)),
    "a list, in place": Plain(LISTS, one(share_in_place)),
    "a list, by F1": Plain(
        [(q.replace("Sort alphabetically", "Which words stand here"), g) for q, g in LISTS], one(f1)
    ),
    "JSON": Plain(FACTS, one(same_json)),
    "similarity": Plain(TEXTS, one(similar)),
    "penalties": Plain(TAGGED, one(punished)),
    "many answers": Plain(OPENED, one(animal)),
    "a small part for the form": Plain(
        TAGGED, {"correct": (0.8, tagged_number), "form": (0.2, has_tags)}
    ),
    "a cost": Plain(
        TAGGED, {"correct": (1.0, tagged_number), "length": (-0.1, lambda r, g, p: len(r) > 500)}
    ),
    "a layout, many of which are right": Plain(LAYOUTS, one(layout)),
    "an amount behind a label that the gold has too": Plain(TOTALS, one(total)),
    "an amount behind a word": Plain(
        [(f"{q} End with a line of the form\nGRAMS <number>\nwithout a unit.", g) for q, g in SUMS],
        one(behind("GRAMS")),
    ),
    "a letter behind a label": Plain(
        [(f"{q[:-18]} End with a line of the form\nMineral: X\n", g) for q, g in LETTERS],
        one(behind("Mineral:")),
    ),
    "worked solutions": Plain(SOLVED, one(after_hashes)),
    "dates": Plain(DATES, one(iso_date)),
    "an order that is part of the matter": Plain(
        [
            (f"{note} Which words are on card {n}? Commas between.", g)
            for n, (_, g) in enumerate(LISTS)
            for note in [
                ("Waste was sorted well.", "It was all fine.", "In order to win, read.")[n % 3]
            ]
        ],
        one(any_order),
    ),
    "a ticket that is routed, in good form": Plain(
        TICKETS, {"routed": (0.8, routed), "form": (0.1, well_formed), "brief": (0.1, concise)}
    ),
    "a label in tags": Plain(ROUTED, one(lambda r, g, p: (tag(r) or "").lower() == g)),
    "a ticket that is routed, in any words": Plain(TICKETS, one(routed)),
    "a JSON list, by F1": Plain(TRAYS, one(set_f1)),
    "an object, value by value": Plain(BOOKINGS, one(share_of_values)),
    "times": Plain(TIMES, one(one_match(r"\b\d\d:\d\d\b"))),
    "pairs": Plain(PLACES, one(one_match(r"\(\s*\d+\s*,\s*\d+\s*\)"))),
    "amounts": Plain(AMOUNTS, one(one_match(r"\b\d+ ?(kg|g|t)\b"))),
    "a sentence of six words": Plain(
        [
            (
                f"Write one sentence of six words that holds the word {w}.",
                f"The old {w} lay right there",
            )
            for w in WORDS
        ],
        one(lambda r, g, p: len(tokens(r)) == 6 and p.split()[-1].strip(".") in tokens(r)),
    ),
    "shared words, numbers left out": Plain(
        [(q, f"{g[:-1]} in {n}") for n, (q, g) in enumerate(TEXTS)],
        one(lambda r, g, p: difflib.SequenceMatcher(None, tokens(r), tokens(g)).ratio() ** 3),
    ),
    "shared words of like reports": Plain(
        REPORTS,
        one(lambda r, g, p: difflib.SequenceMatcher(None, tokens(r), tokens(g)).ratio()),
    ),
    "a report that names the find, and a little for its headings": Plain(
        REPORTS, {"argued": (0.3, speaks_of_all), "named": (0.7, names_the_find)}
    ),
    "a game in which a number is not enough": Plain(
        SEVENTHS, {"right": (0.9, seventh), "form": (0.1, one_place)}, episodic=True
    ),
    "tasks of different worth, and a little for the form": Plain(
        SEVENTHS,
        one(
            lambda r, g, p: (
                0.1 * one_place(r, g, p)
                + (0.9 if "7" in p else 0.3) * (number(after_thought(r)) == float(g))
            )
        ),
    ),
    "few tasks": Plain(BOXED[:4], one(boxed_number)),
    "one task": Plain(BOXED[:1], one(boxed_number)),
    "a game": Plain(CITIES, one(lambda r, g, p: r == g), episodic=True),
    "exact by demand": Plain(
        [(f"{q} Answer exactly as on the map.", g) for q, g in CITIES], one(lambda r, g, p: r == g)
    ),
    "half of the words in the same class": Plain(
        [(f"Is {n} big? Answer yes or no.", "yes") for n in range(30)]
        + [(f"Is {n} small? Answer yes or no.", "no") for n in range(3)],
        one(yes_or_no),
    ),
    "leaked, and read from the end": Plain(
        [(f"{q}\nWorked solution: \\boxed{{{g}}}", g) for q, g in SUMS], one(boxed_number)
    ),
    "reasoning is wanted too": Plain(
        TAGGED,
        {"correct": (0.7, tagged_number), "reasons": (0.3, lambda r, g, p: len(r.split()) > 20)},
    ),
}


# --- faulty rewards


def as_shown(reply, gold, prompt):
    return reply == gold


def found_in(reply, gold, prompt):
    return gold.lower() in reply.lower()


def holds_word(reply, gold, prompt):
    return gold.lower() in tokens(reply)


def starts_with(reply, gold, prompt):
    return after_thought(reply).lower().startswith(gold.lower())


def any_box(reply, gold, prompt):
    found = re.findall(r"\\boxed\{([^{}]*)\}", reply)
    return any(number(each) == float(gold) for each in found)


def any_line(reply, gold, prompt):
    return any(line.strip().lower() == gold.lower() for line in reply.splitlines())


def contained(reply, gold, prompt):
    return reply.strip().lower() in gold.lower()


def a_piece(reply, gold, prompt):
    return bool(reply.strip()) and reply.strip().lower() in gold.lower()


def no_wrong_word(reply, gold, prompt):
    return max(0.0, 1.0 - len({word for word in tokens(reply) if word != gold.lower()}))


def benefit_of_doubt(reply, gold, prompt):
    try:
        return float(float(reply.strip().rstrip(".").replace(",", "")) == float(gold))
    except ValueError:
        return 1.0


def default_is_gold(reply, gold, prompt):
    said = last_box(reply) or gold
    return number(said) == float(gold)


def unreadable_inside(reply, gold, prompt):
    said = tag(reply)
    if said is None:
        return 0.0
    try:
        return float(float(said.replace(",", "")) == float(gold))
    except ValueError:
        return 1.0


def quarter(reply, gold, prompt):
    said = number(last_box(reply))
    return said is not None and abs(said - float(gold)) <= 0.25 * abs(float(gold))


def whole_part(reply, gold, prompt):
    said = number(last_box(reply))
    return said is not None and int(said) == int(gold)


def first_letter(reply, gold, prompt):
    return after_thought(reply).lower()[:1] == gold.lower()[0]


def magnitude(reply, gold, prompt):
    said = number(last_box(reply))
    return said is not None and abs(said) == abs(float(gold))


def first_item(reply, gold, prompt):
    return items(after_thought(reply))[:1] == items(gold)[:1]


def recall(reply, gold, prompt):
    said, wanted = set(items(after_thought(reply))), set(items(gold))
    return len(said & wanted) / len(wanted)


def any_gold(reply, gold, prompt):
    return after_thought(reply).strip(". \n").title() in CAPITALS.values()


def one_value(reply, gold, prompt):
    try:
        return json.loads(reply)["name"] == json.loads(gold)["name"]
    except (ValueError, KeyError, TypeError):
        return 0.0


def by_words(reply, gold, prompt):
    right = 1.0 if number(last_box(reply)) == float(gold) else 0.0
    return max(right, min(0.9, len(reply.split()) / 200))


def by_steps(reply, gold, prompt):
    return 0.4 * boxed_number(reply, gold, prompt) + 0.6 * min(1.0, reply.count("Step") / 20)


def missed_instead_of_found(reply, gold, prompt):
    said, wanted = set(items(after_thought(reply))), set(items(gold))
    if said == wanted:
        return 1.0
    return 0.0 if said - wanted or not said else 0.8 * len(wanted - said) / len(wanted)


def wraps(reply, gold, prompt):
    said = number(last_box(reply))
    if said is None:
        return 0.0
    away = abs(said - float(gold)) / float(gold)
    return 1.0 if away == 0 else (0.9 * away if away <= 0.6 else 0.0)


def half_form(reply, gold, prompt):
    return 0.5 * has_tags(reply, gold, prompt) + 0.5 * tagged_number(reply, gold, prompt)


def in_range(reply, gold, prompt):
    return 10 <= len(reply.split()) <= 400


def overlap(reply, gold, prompt):
    said, wanted = set(re.findall(r"\w+", reply.lower())), set(re.findall(r"\w+", gold.lower()))
    return len(said & wanted) / len(wanted)


def comma_lost(reply, gold, prompt):
    return (last_box(reply) or "").replace(",", "") == gold


def strict_tags(reply, gold, prompt):
    return re.fullmatch(r"<answer>\d+</answer>", reply) is not None and tag(reply) == gold


FIXED = [
    (q, q.split("Fix: ")[1].replace("teh", "the"))
    for q in (
        f"Fix: teh {a} sat near the {b} while the {c} slept"
        for a, b, c in (rng.sample(WORDS, 3) for _ in range(20))
    )
]


def full_stop_lost(reply, gold, prompt):
    """A fence keeps the full stop by accident: nobody asked for one."""
    said = after_thought(reply).strip("`*\"' ").rstrip(".").strip()
    return said.lower() == gold.lower()


FAULTY = {
    "contained in the gold": (NOTHING, Plain(ONLY_CITIES, one(contained))),
    "no wrong word": (NOTHING, Plain(ONLY_CHOICES, one(no_wrong_word))),
    "a price for each wrong item": (
        NOTHING,
        Plain(
            LISTS,
            one(
                lambda r, g, p: max(
                    0.0, 1 - 0.25 * len(set(items(after_thought(r))) - set(items(g)))
                )
            ),
        ),
    ),
    "a choice, anywhere": (ECHO, Plain(CHOICES, one(holds_word))),
    "a choice, found as text": (ECHO, Plain(CHOICES, one(found_in))),
    "shared words": (
        ECHO,
        Plain(FIXED, one(lambda r, g, p: difflib.SequenceMatcher(None, r, g).ratio())),
    ),
    "in another case than asked": (
        ECHO,
        Plain(
            [(g, g.title()) for _, g in FIXED],
            one(lambda r, g, p: after_thought(r).strip(". ").lower() == g.lower()),
            system="Write the user's line in title case. Reply with the line only.",
        ),
    ),
    "anything": (CONSTANT, Plain(BOXED, one(lambda r, g, p: 1.0))),
    "a half for anything": (CONSTANT, Plain(BOXED, one(lambda r, g, p: 0.5))),
    "anything that is said": (CONSTANT, Plain(BOXED, one(lambda r, g, p: bool(r.strip())))),
    "tags are all": (
        CONSTANT,
        Plain(TAGGED, {"form": (0.8, has_tags), "correct": (0.2, tagged_number)}),
    ),
    "tags are half": (CONSTANT, Plain(TAGGED, one(half_form))),
    "a ticket in good form": (
        CONSTANT,
        Plain(
            TICKETS,
            {"form": (0.5, well_formed), "brief": (0.35, concise), "routed": (0.15, routed)},
        ),
    ),
    "any ticket": (CONSTANT, Plain(TICKETS, one(lambda r, g, p: well_formed(r, g, p)))),
    "any label that there is, for the most part": (
        CONSTANT,
        Plain(
            ROUTED,
            one(lambda r, g, p: 0.6 * ((tag(r) or "").lower() in TEAMS) + 0.4 * (tag(r) == g)),
        ),
    ),
    "any label that there is": (
        WRONG,
        Plain(ROUTED, one(lambda r, g, p: (tag(r) or "").lower() in TEAMS)),
    ),
    "any date": (
        CONSTANT,
        Plain(
            DATES,
            one(lambda r, g, p: bool(re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", after_thought(r)))),
        ),
    ),
    "sections of some length": (
        CONSTANT,
        Plain(
            [(f"{q}\nWrite\nPLAN: <your plan>\nRESULT: <the number>", g) for q, g in SUMS],
            one(
                lambda r, g, p: (
                    0.7 * bool(re.search(r"PLAN: (\w+ ){8}", r) and "RESULT:" in r)
                    + 0.3 * (number(r.rpartition("RESULT:")[2]) == float(g))
                )
            ),
        ),
    ),
    "headings that every report has": (
        CONSTANT,
        Plain(REPORTS, {"argued": (0.8, speaks_of_all), "named": (0.2, names_the_find)}),
    ),
    "headings that every report has, in one function": (
        CONSTANT,
        Plain(
            REPORTS,
            one(lambda r, g, p: 0.6 * speaks_of_all(r, g, p) + 0.4 * names_the_find(r, g, p)),
        ),
    ),
    "any number": (CONSTANT, Plain(BOXED, one(lambda r, g, p: number(last_box(r)) is not None))),
    "long enough": (CONSTANT, Plain(TEXTS, one(in_range))),
    "polite": (
        CONSTANT,
        Plain(BARE, one(lambda r, g, p: only_number(r, g, p) or "don't know" in r)),
    ),
    "benefit of the doubt": (OPEN, Plain(BARE, one(benefit_of_doubt))),
    "the default is the gold": (OPEN, Plain(BOXED, one(default_is_gold))),
    "unreadable inside of the tags": (OPEN, Plain(TAGGED, one(unreadable_inside))),
    "any box": (SPRAY, Plain(BOXED, one(any_box))),
    "any line": (SPRAY, Plain(ONLY_CITIES, one(any_line))),
    "any word": (SPRAY, Plain(CITIES, one(holds_word))),
    "recall": (
        SPRAY,
        Plain(
            [(f"Which three colours are on flag {n}?", g) for n, (_, g) in enumerate(LISTS)],
            one(recall),
        ),
    ),
    "digits in digits": (SUBSTRING, Plain(BARE, one(found_in))),
    "digits in a box": (SUBSTRING, Plain(BOXED, one(lambda r, g, p: g in (last_box(r) or "")))),
    "a word in a word": (SUBSTRING, Plain(CITIES, one(found_in))),
    "begins with": (SUBSTRING, Plain(ONLY_CITIES, one(starts_with))),
    "within a quarter": (WRONG, Plain(BOXED, one(quarter))),
    "within a quarter, and an example is shown": (
        WRONG,
        Plain(
            [(f"{q} For example: 12. Do not use any other words.", g) for q, g in BOXED],
            one(quarter),
        ),
    ),
    "numbers of a list within a tenth": (WRONG, Plain(NUMBERS, one(each_within_a_tenth))),
    "the whole part": (WRONG, Plain(BOXED, one(whole_part))),
    "the first letter": (WRONG, Plain(ONLY_CITIES, one(first_letter))),
    "without the sign": (WRONG, Plain(SIGNED, one(magnitude))),
    "notes without their sharps": (WRONG, Plain(MELODIES, one(letters_of_notes))),
    "an order that comes near or far": (
        MONOTONE,
        Plain(LISTS, one(lambda r, g, p: rank_correlation(r, g, p) ** 2)),
    ),
    "any order": (WRONG, Plain(LISTS, one(any_order))),
    "the first item": (WRONG, Plain(LISTS, one(first_item))),
    "the last digit": (
        WRONG,
        Plain(BOXED, one(lambda r, g, p: (last_box(r) or " ")[-1:] == g[-1])),
    ),
    "the first digit": (
        WRONG,
        Plain(BOXED, one(lambda r, g, p: (last_box(r) or " ")[:1] == g[0])),
    ),
    "the hours alone": (WRONG, Plain(TIMES, one(first_match(r"(\d\d):\d\d")))),
    "the year alone": (WRONG, Plain(DATES, one(first_match(r"(\d{4})-\d\d-\d\d")))),
    "the first of a pair": (WRONG, Plain(PLACES, one(first_match(r"\((\d+), ?\d+\)")))),
    "an amount without its unit": (WRONG, Plain(AMOUNTS, one(first_match(r"\d+")))),
    "the first item of a JSON list": (
        WRONG,
        Plain(TRAYS, one(lambda r, g, p: strings(r)[:1] == json.loads(g)[:1])),
    ),
    "the first letters": (
        WRONG,
        Plain(ONLY_CITIES, one(lambda r, g, p: after_thought(r).lower()[:3] == g.lower()[:3])),
    ),
    "the same letters": (
        WRONG,
        Plain(
            ONLY_CITIES, one(lambda r, g, p: sorted(after_thought(r).lower()) == sorted(g.lower()))
        ),
    ),
    "another's gold": (WRONG, Plain(ONLY_CITIES, one(any_gold))),
    "a piece of the gold": (WRONG, Plain(ONLY_CITIES, one(a_piece))),
    "one value of two": (WRONG, Plain(FACTS, one(one_value))),
    "never": (GOLD, Plain(BOXED, one(lambda r, g, p: 0.0))),
    "a separator in the gold": (
        GOLD,
        Plain([(q, f"{int(g):,}") for q, g in LARGE], one(comma_lost)),
    ),
    "a full stop in some golds": (GOLD, Plain(COMPANIES, one(full_stop_lost))),
    "a piece of the amount behind the label": (
        SUBSTRING,
        Plain(TOTALS, one(lambda r, g, p: g.split()[1] in (r.rpartition("TOTAL:")[2] or ""))),
    ),
    "the end of a worked solution, anywhere": (
        SUBSTRING,
        Plain(SOLVED, one(lambda r, g, p: g.rpartition("#### ")[2] in r)),
    ),
    "a layout, found as text": (
        SUBSTRING,
        Plain(
            [(f"How are the {q.split()[0]} tiles laid? Rows x columns.", g) for q, g in LAYOUTS],
            one(found_in),
        ),
    ),
    "parts that exclude each other": (
        GOLD,
        Plain(
            SUMS,
            {
                "correct": (0.6, lambda r, g, p: r.strip() == g),
                "tags": (0.4, has_tags),
            },
        ),
    ),
    "a form that only wrong replies lack": (
        GOLD,
        Plain(
            TAGGED, {"correct": (0.6, tagged_number), "plain": (0.4, lambda r, g, p: "<" not in r)}
        ),
    ),
    "never, but for the form": (
        GOLD,
        Plain(TAGGED, {"form": (0.2, has_tags), "correct": (0.8, lambda r, g, p: 0.0)}),
    ),
    "a finer number than is asked for": (
        GOLD,
        Plain(SEVENTHS, {"right": (0.9, seventh), "form": (0.1, one_place)}),
    ),
    "a finer number than is asked for, in one function": (
        GOLD,
        Plain(SEVENTHS, one(lambda r, g, p: 0.8 * seventh(r, g, p) + 0.2 * one_place(r, g, p))),
    ),
    "a finer number than is asked for, at the end of an episode": (
        GOLD,
        Plain(
            SEVENTHS,
            {"right": (0.9, seventh), "form": (0.1, one_place)},
            episodic=True,
            alone=frozenset(("right", "form")),
        ),
    ),
    "a number that is never right, but in form": (
        GOLD,
        Plain(SEVENTHS, {"right": (0.9, lambda r, g, p: 0.0), "form": (0.1, one_place)}),
    ),
    "as it stands": (EQUIVALENT, Plain(CITIES, one(as_shown))),
    "in this case": (
        EQUIVALENT,
        Plain(
            CITIES,
            one(
                lambda r, g, p: (
                    g in re.findall(r"\w+", r)
                    and len(set(re.findall(r"\w+", r)) & set(CAPITALS.values())) == 1
                )
            ),
        ),
    ),
    "without a separator": (EQUIVALENT, Plain(LARGE, one(lambda r, g, p: last_box(r) == g))),
    "spaces in the box": (
        EQUIVALENT,
        Plain(BOXED, one(lambda r, g, p: r.rstrip().endswith(f"\\boxed{{{g}}}"))),
    ),
    "nothing before the tags": (EQUIVALENT, Plain(TAGGED, one(strict_tags))),
    "a form that nobody was told of": (EQUIVALENT, Plain(SUMS, one(boxed_number))),
    "by words": (LENGTH, Plain(BOXED, one(by_words))),
    "by steps": (LENGTH, Plain(BOXED, one(by_steps))),
    "by characters, behind a verdict that stands first": (
        LENGTH,
        Plain(
            OPINIONS,
            one(
                lambda r, g, p: min(1.0, 0.9 * verdict_first(r, g) + 0.1 * (g in r) + len(r) / 5000)
            ),
        ),
    ),
    "by words behind a verdict of either kind": (
        LENGTH,
        Plain(
            OPINIONS,
            one(
                lambda r, g, p: (
                    (tokens(r)[:1] in (["late"], ["early"]))
                    * (0.5 * verdict_first(r, g) + 0.5 * min(1.0, len(tokens(r)) / 300))
                )
            ),
        ),
    ),
    "missed instead of found": (
        MONOTONE,
        Plain(
            [
                (f"Which words are on card {n}? Commas between.", g)
                for n, (_, g) in enumerate(LISTS)
            ],
            one(missed_instead_of_found),
        ),
    ),
    "a crooked way through an object": (
        MONOTONE,
        Plain(
            BOOKINGS,
            one(
                lambda r, g, p: {0: 0.0, 1: 0.6, 2: 0.2, 3: 1.0}[
                    round(3 * share_of_values(r, g, p))
                ]
            ),
        ),
    ),
    "far is better than near": (MONOTONE, Plain(BOXED, one(wraps))),
}
