"""Well-known providers: they work by name, with their usual key variable and no file."""

from envwright.model.model import ALL_PROTOCOLS, Model, Protocol
from envwright.record import Record


class Preset(Record):
    base_url: str
    api_key_env: str | None
    provider: str | None = None
    """The id in the price list."""
    protocols: tuple[Protocol, ...] = (Protocol.OPENAI_CHAT,)


CHAT_AND_RESPONSES = (Protocol.OPENAI_CHAT, Protocol.OPENAI_RESPONSES)

PRESETS: dict[str, Preset] = {
    "openai": Preset(
        base_url="https://api.openai.com/v1",
        api_key_env="OPENAI_API_KEY",
        provider="openai",
        protocols=CHAT_AND_RESPONSES,
    ),
    "anthropic": Preset(
        base_url="https://api.anthropic.com/v1",
        api_key_env="ANTHROPIC_API_KEY",
        provider="anthropic",
        protocols=(Protocol.OPENAI_CHAT, Protocol.ANTHROPIC),
    ),
    "google": Preset(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        api_key_env="GEMINI_API_KEY",
        provider="google",
    ),
    "openrouter": Preset(
        base_url="https://openrouter.ai/api/v1",
        api_key_env="OPENROUTER_API_KEY",
        provider="openrouter",
        protocols=ALL_PROTOCOLS,
    ),
    "prime": Preset(base_url="https://api.pinference.ai/api/v1", api_key_env="PRIME_API_KEY"),
    "together": Preset(
        base_url="https://api.together.xyz/v1", api_key_env="TOGETHER_API_KEY", provider="together"
    ),
    "groq": Preset(
        base_url="https://api.groq.com/openai/v1",
        api_key_env="GROQ_API_KEY",
        provider="groq",
        protocols=CHAT_AND_RESPONSES,
    ),
    "mistral": Preset(
        base_url="https://api.mistral.ai/v1", api_key_env="MISTRAL_API_KEY", provider="mistral"
    ),
    "deepseek": Preset(
        base_url="https://api.deepseek.com/v1", api_key_env="DEEPSEEK_API_KEY", provider="deepseek"
    ),
    "fireworks": Preset(
        base_url="https://api.fireworks.ai/inference/v1",
        api_key_env="FIREWORKS_API_KEY",
        provider="fireworks",
        protocols=CHAT_AND_RESPONSES,
    ),
    "vllm": Preset(base_url="http://127.0.0.1:8000/v1", api_key_env=None, protocols=ALL_PROTOCOLS),
    "ollama": Preset(
        base_url="http://127.0.0.1:11434/v1", api_key_env=None, protocols=ALL_PROTOCOLS
    ),
    "llamacpp": Preset(
        base_url="http://127.0.0.1:8080/v1", api_key_env=None, protocols=ALL_PROTOCOLS
    ),
}


def preset_names() -> list[str]:
    return sorted(PRESETS)


def provider_key_names() -> set[str]:
    """The variables in which the keys of well-known providers are."""
    return {preset.api_key_env for preset in PRESETS.values() if preset.api_key_env}


def preset_of(name: str) -> Model | None:
    """`provider/model` as a Model; None when the provider is not known."""
    provider, _, model = name.partition("/")
    preset = PRESETS.get(provider)
    if preset is None or not model:
        return None
    return Model(
        name=name,
        protocols=preset.protocols,
        base_url=preset.base_url,
        model=model,
        api_key_env=preset.api_key_env,
        provider=preset.provider,
    )
