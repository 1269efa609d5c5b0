"""Who talks to whom: verifiers' user simulation with a guest for a persona."""

import verifiers.v1 as vf
from verifiers.v1.envs.user_sim.env import UserSimEnv, UserSimEnvConfig

PERSONA = """You are a guest who calls a restaurant to book a table. What you want:

{scenario}

Say it in your own words, in one short sentence at a time, and answer what you are asked. You are \
the guest: never take the booking yourself. When the restaurant has confirmed your booking, reply \
with exactly {done} and nothing else."""


class BookingEnvConfig(UserSimEnvConfig):
    user: vf.AgentConfig = vf.AgentConfig(max_turns=4, sampling=vf.SamplingConfig(max_tokens=60))
    """The guest; its turns are the length of the call, and guests are brief."""
    persona: str = PERSONA


class BookingEnv(UserSimEnv, vf.Env[BookingEnvConfig]):
    """Two seats: the `assistant` is measured, the `user` is part of its world."""
