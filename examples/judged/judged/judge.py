"""The judge: one question about a note, answered with one word."""

import re

import verifiers.v1 as vf

VERDICT = re.compile(r"\b(positive|negative)\b", re.IGNORECASE)


class ToneJudge(vf.Judge[bool]):
    """Whether a note is warm in tone. It is never told what the note should have said."""

    prompt = (
        "Classify the sentiment of the text as positive or negative.\n\nText: {note}\nSentiment:"
    )

    def parse(self, response: vf.JudgeResponse[bool]) -> bool:
        """The first such word; a judge that says neither did not judge, and that is an error."""
        verdict = VERDICT.search(response.text)
        if verdict is None:
            raise ValueError(f"the judge said neither positive nor negative: {response.text!r}")
        return verdict.group().lower() == "positive"
