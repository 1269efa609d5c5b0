"""`envwright model`: list the models, pull the local one, check one with a call."""

import asyncio
import sys
from pathlib import Path

import click

from envwright.cli.output import (
    cell,
    clean,
    console,
    print_json,
    print_json_line,
    say,
    short,
    table,
    usd_text,
)
from envwright.cli.shared import json_option, run_async, until
from envwright.errors import ProviderError, UsageError
from envwright.model import preset_of
from envwright.model.local import LOCAL_NAME, is_pulled, pull
from envwright.model.preset import PRESETS
from envwright.settings import process_variables, read_settings


@click.group()
def model() -> None:
    """Models: list, pull, check."""


@model.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Providers and models that work by name, and whether their key is set."""
    settings = read_settings(process_variables(), Path.cwd())
    pulled = "pulled" if is_pulled(settings.cache) else "not pulled yet"
    rows: list[tuple[str, str, str, str]] = [(LOCAL_NAME, "this machine", "no key needed", pulled)]
    for name in settings.file.models:
        known = settings.model(name)
        rows.append(
            (
                name,
                known.base_url,
                key_text(known.api_key_env, settings.variables),
                "envwright.toml",
            )
        )
    for name in PRESETS:
        known = preset_of(f"{name}/MODEL")
        assert known is not None
        key = key_text(known.api_key_env, settings.variables)
        rows.append((f"{name}/MODEL", known.base_url, key, "preset"))
    if as_json:
        for name, where, key, note in rows:
            print_json_line({"name": name, "base_url": where, "key": key, "note": note})
        return
    shown = table(None, [("model", False), ("answers at", False), ("key", False), ("", False)])
    for row in rows:
        shown.add_row(*(cell(text) for text in row))
    console().print(shown)


def key_text(variable: str | None, variables: dict[str, str]) -> str:
    if variable is None:
        return "no key needed"
    return f"{variable} is set" if variables.get(variable) else f"{variable} is not set"


@model.command("pull")
@click.argument("name", default=LOCAL_NAME)
def pull_(name: str) -> None:
    """Fetch the local model, once."""
    if name != LOCAL_NAME:
        raise UsageError(f"model {name!r} cannot be pulled", hint=f"only {LOCAL_NAME} can")
    settings = read_settings(process_variables(), Path.cwd())
    click.echo(str(pull(settings.cache, say)))


@model.command()
@click.argument("name")
@click.option("--endpoint", metavar="URL", help="Where it answers (OpenAI chat).")
@click.option("--key-env", metavar="NAME", help="The variable with the key of --endpoint.")
@json_option
def check(name: str, endpoint: str | None, key_env: str | None, as_json: bool) -> None:
    """Ask the model one short question and say what came back."""
    from envwright.app import App

    async def main(stop: asyncio.Event) -> int:
        async with App.make(sandbox="none", say=say) as app:
            try:
                call, said = await until(stop, app.check_model(name, endpoint, key_env))
            except ProviderError as error:
                hint = error.hint or "check the model's name, its address and your account"
                raise UsageError(error.message, hint=hint) from error
        if as_json:
            print_json({**call.model_dump(mode="json"), "said": said})
        else:
            click.echo(clean(f"model: {call.model}"))
            click.echo(f"seconds: {call.seconds:.2f}")
            used = call.usage
            click.echo(
                f"tokens: {f'{used.input_tokens}/{used.output_tokens}' if used else 'not reported'}"
            )
            click.echo(f"cost: {usd_text(call.cost_usd)}")
            click.echo(clean(f"said: {short(said)}"))
        return 0

    sys.exit(run_async(main))
