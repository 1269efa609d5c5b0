"""Capitals."""

import csv
import io
import unicodedata

import verifiers.v1 as vf

TABLE = """country,capital,continent
France,Paris,Europe
Japan,Tokyo,Asia
Kenya,Nairobi,Africa
Peru,Lima,America
Nauru,,Oceania
Norway,Oslo,Europe
Vietnam,Hanoi,Asia
Chile,Santiago,America
Ghana,Accra,Africa
Finland,Helsinki,Europe
Bolivia,,America
Cuba,Havana,America
Senegal,Dakar,Africa
Greece,Athens,Europe
Switzerland,,Europe
Iraq,Baghdad,Asia
Uruguay,Montevideo,America
Colombia,Bogotá,America
Mali,Bamako,Africa
Latvia,Riga,Europe
Benin,,Africa
Nepal,Kathmandu,Asia
Tunisia,Tunis,Africa
Portugal,Lisbon,Europe
Tokelau,,Oceania
Fiji,Suva,Oceania
Poland,Warsaw,Europe
Paraguay,Asunción,America
"""


def fold(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.strip().strip("`*.!\"' \n").casefold())
    return "".join(c for c in text if not unicodedata.combining(c))


class CapitalData(vf.TaskData):
    country: str
    answer: str


class CapitalTask(vf.Task[CapitalData]):
    @vf.reward(weight=1.0)
    async def capital(self, trace: vf.Trace) -> float:
        said = fold((trace.last_reply or "")[-2000:].rpartition("</think>")[2])
        return float(bool(said) and said == fold(self.data.answer))


class CapitalTaskset(vf.Taskset[CapitalTask, vf.TasksetConfig]):
    def load(self):
        for row in csv.DictReader(io.StringIO(TABLE)):
            data = CapitalData(
                prompt=f"What is the capital of {row['country']}? Reply with the city's name only.",
                country=row["country"],
                answer=row["capital"],
            )
            yield CapitalTask(data, self.config.task)


__all__ = ["CapitalTaskset"]
