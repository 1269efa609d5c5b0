"""What counts as an English word."""

import asyncio
import json
import urllib.request

COMMON = frozenset(
    """
    brand bread blond blend braid breed bring brown brush bridge branch breeze
    bronze brick brisk clamp cliff climb clock cloud clown clever cloth crane
    crisp crown crumb crust cream crash dream drift drill drink drive drown
    dwarf dragon drawer flame flock flood floor flour fluid flute frame fresh
    frost fruit frozen flower glass globe glove grain grape grass green grill
    group growth glacier plane plant plate plumb plank price pride print prize
    proof proud planet shade shark sharp sheep shelf shell shirt shore shrimp
    shadow slate sleep slice slope small smile smoke snake snow space spark
    spoon sport spring square stable staff stamp steam stone storm straw street
    string sweet swift sword table thank thief throat throne thumb tiger toast
    tower track trail train trumpet whale wheat wheel wheelbarrow whisper white wrist
    """.split()
)
ENTRY = "https://api.dictionaryapi.dev/api/v2/entries/en/{word}"


def _entry(word: str) -> bool:
    try:
        with urllib.request.urlopen(ENTRY.format(word=word), timeout=4) as response:
            return isinstance(json.load(response), list)
    except (OSError, ValueError):
        return False


async def is_english(word: str) -> bool:
    """Common words are known; rarer ones are looked up."""
    return word in COMMON or await asyncio.to_thread(_entry, word)
