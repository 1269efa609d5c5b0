import verifiers.v1 as vf


class GameConfig(vf.EnvConfig):
    white: vf.AgentConfig = vf.AgentConfig()
    black: vf.AgentConfig = vf.AgentConfig()
    referee: vf.AgentConfig = vf.AgentConfig(max_turns=3)
    breaks: str = ""
    """Where the game itself raises."""


class Game(vf.Env[GameConfig]):
    async def setup(self, agents):
        agents.referee.trainable = False

    async def run(self, task, agents):
        white = await agents.white.run(task)
        black = await agents.black.run(task)
        said = f"{white.last_reply!r} or {black.last_reply!r}?"
        await agents.referee.run(vf.Task(vf.TaskData(prompt=f"Who is better: {said}")))

    async def finalize(self, task, episode):
        if self.config.breaks == "finalize":
            raise LookupError("a comparison of the environment's")
        by = {name: traces[0] for name, traces in episode.by_agent.items()}
        for name in ("white", "black"):
            by[name].record_reward("won", float(name in by["referee"].last_reply), weight=0.5)
