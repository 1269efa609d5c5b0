"""Random passwords, the policy that judges them, and how a reply is read."""

import random
import string
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

POLICY = """A password is accepted if all of these hold, and rejected otherwise:
1. It has at least 10 characters.
2. It has at least one upper-case letter, one lower-case letter and one digit.
3. It has at least one of the signs ! # % + ?
4. No character stands next to a copy of itself."""
ALPHABET = string.ascii_letters + string.digits + "!#%+?"


def accepted(password: str) -> bool:
    return (
        len(password) >= 10
        and any(c.isupper() for c in password)
        and any(c.islower() for c in password)
        and any(c.isdigit() for c in password)
        and any(c in "!#%+?" for c in password)
        and all(a != b for a, b in zip(password, password[1:]))
    )


class PasswordData(vf.TaskData):
    password: str
    label: str


class PasswordTask(vf.Task[PasswordData]):
    @vf.reward(weight=1.0)
    async def verdict(self, trace: vf.Trace) -> float:
        """1.0 if the reply is the right verdict and nothing else."""
        said = trace.last_reply.rsplit("</think>", 1)[-1].strip().strip("*_`.\"' ").lower()
        return float(said == self.data.label)


class PolicyConfig(vf.TasksetConfig):
    num_tasks: int = Field(50, ge=1, le=5000)
    """How many passwords."""
    seed: int = 2
    """The same seed gives the same passwords."""


class PolicyTaskset(vf.Taskset[PasswordTask, PolicyConfig]):
    def load(self) -> Iterator[PasswordTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            password = "".join(rng.choices(ALPHABET, k=rng.randint(4, 11)))
            if password in seen:
                continue
            seen.add(password)
            data = PasswordData(
                prompt=f"{POLICY}\n\nPassword: {password}\n\nReply with one word, accept or reject.",
                password=password,
                label="accept" if accepted(password) else "reject",
            )
            yield PasswordTask(data, self.config.task)
