"""The command line: `envwright <noun> <verb>`. stdout is data, stderr is talk.

Commands are imported when they are called, so that `--help` stays quick. Every error
that a person can cause ends here as one line and an exit code.
"""

import importlib
import os
import sys
import traceback
from typing import NoReturn

import click

from envwright import __version__
from envwright.errors import Broken, EnvwrightError, Interrupted, UsageError

COMMANDS = {
    "demo": ("envwright.cli.demo:demo", "The tour: offline, a real small model, a few minutes."),
    "run": ("envwright.cli.run:run", "Run trials of agents on an environment's tasks."),
    "audit": (
        "envwright.cli.audit:audit",
        "Whether an environment's reward can be trusted: a scorecard.",
    ),
    "sweep": (
        "envwright.cli.sweep:sweep",
        "Sweeps: submit, list, status, watch, cancel, resume.",
    ),
    "queue": (
        "envwright.cli.queue:queue",
        "Queues, one per model: status, limit, park, open.",
    ),
    "worker": ("envwright.cli.worker:worker", "Work on what is queued."),
    "env": (
        "envwright.cli.env:env",
        "Look at an environment: inspect, tasks, score, validate.",
    ),
    "trial": ("envwright.cli.trial:trial", "Look at trials: list, show, retry."),
    "scorecard": ("envwright.cli.scorecard:scorecard", "Scorecards: check."),
    "import": ("envwright.cli.import_:import_", "Keep rollouts of vf-eval folders as trials."),
    "model": ("envwright.cli.model:model", "Models: list, pull, check."),
    "doctor": ("envwright.cli.doctor:doctor", "Launch every part and say what works."),
}
"""Name → where it lives, and its line in the help."""

EXIT_FINDINGS, EXIT_USAGE, EXIT_OURS, EXIT_INCOMPLETE, EXIT_INTERRUPTED = 1, 2, 3, 4, 130


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="envwright")
def envwright() -> None:
    """Continuous QA for RL environments and agent skills.

    Give it an environment: it runs trials across models in a sandbox, keeps every
    trace, and says what each score is worth.
    """


def main() -> NoReturn:
    try:
        code = envwright.main(standalone_mode=False)
    except click.exceptions.Abort:
        leave("interrupted", EXIT_INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        leave(one_line(error), EXIT_USAGE)
    except EnvwrightError as error:
        leave(str(error), exit_code_of(error), error.detail)
    except KeyboardInterrupt:
        leave("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        # The machine's answer, not a bug: no room, no permission, too many files.
        where = f"{error.filename}: " if error.filename else ""
        leave(
            f"{where}{error.strerror or error}. hint: check the disk and its permissions",
            EXIT_USAGE,
            traceback.format_exc(),
        )
    except Exception as error:  # noqa: BLE001 - the edge: our own bug, said as such
        leave(
            f"a bug in envwright: {type(error).__name__}: {error}. hint: report it with the "
            "output of ENVWRIGHT_DEBUG=1",
            EXIT_OURS,
            traceback.format_exc(),
        )
    sys.exit(code if isinstance(code, int) else 0)


def exit_code_of(error: EnvwrightError) -> int:
    if isinstance(error, Interrupted):
        return EXIT_INTERRUPTED
    return EXIT_USAGE if isinstance(error, UsageError | Broken) else EXIT_OURS


def one_line(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "envwright"
    return f"{' '.join(error.format_message().split()).rstrip('.')}. hint: see `{command} --help`"


def leave(message: str, code: int, detail: str | None = None) -> NoReturn:
    from envwright.cli.output import clean

    if detail and os.environ.get("ENVWRIGHT_DEBUG"):
        click.echo(clean(detail), err=True)
    click.echo(f"error: {clean(' '.join(message.split()))}", err=True)
    sys.exit(code)
