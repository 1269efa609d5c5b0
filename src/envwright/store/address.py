"""Where servers answer, as people are shown it: never with a user, a password or options."""

import re

import sqlalchemy as sa
from sqlalchemy import exc

from envwright.errors import UsageError

DATABASE_VARIABLE = "ENVWRIGHT_DATABASE_URL"
BLOB_VARIABLE = "ENVWRIGHT_BLOB_URL"
SECRET_OPTION = re.compile(r"(pass|secret|token|key)", re.IGNORECASE)


def parse_database(url: str) -> sa.URL:
    """The URL of a PostgreSQL; `UsageError`, without what it holds, when it is none."""
    hint = f"set {DATABASE_VARIABLE}=postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
    try:
        parsed = sa.make_url(url)
        _ = parsed.port
    except (exc.ArgumentError, ValueError) as error:
        raise UsageError(f"{DATABASE_VARIABLE} is no URL", hint=hint) from error
    if parsed.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise UsageError(
            f"{DATABASE_VARIABLE} begins with {parsed.drivername!r}, not with 'postgresql'",
            hint=hint,
        )
    return parsed.set(drivername="postgresql+psycopg")


def shown_database(url: sa.URL) -> str:
    """Host, port and database; the path for SQLite."""
    if url.host is None and url.get_backend_name() == "sqlite":
        return str(url.database)
    hosts = url.host or " ".join(option_texts(url, "host")) or "localhost"
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{hosts}{port}/{url.database or ''}"


def option_texts(url: sa.URL, name: str) -> list[str]:
    value = url.query.get(name, ())
    return [value] if isinstance(value, str) else list(value)


def redact(text: str, url: sa.URL) -> str:
    """The driver's words as one line, without the URL's password or any secret option."""
    secrets = [str(url.password)] if url.password else []
    for name in url.query:
        if SECRET_OPTION.search(name):
            secrets += option_texts(url, name)
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return " ".join(text.split())
