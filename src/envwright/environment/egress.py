"""`Egress`: what an environment's code may reach of the network, beside the models. Pure.

A name is judged before it is looked up, and every address that it has after that:
addresses that are not public are refused in every mode, unless an entry of `allow` names
exactly this host and port. Does not look into what is sent: whoever may speak to a host
that serves many names may speak to all of them.
"""

import ipaddress
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from envwright.record import Record

PORTS = (443, 80)
"""Of an entry that names none."""
LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
NAME = re.compile(rf"{LABEL}(\.{LABEL})*")
ENTRY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]+)(:(?P<port>[0-9]{1,5}))?")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Mode(StrEnum):
    NONE = "none"
    """Models alone, through the gateway."""
    ALLOWLIST = "allowlist"
    """The hosts that `allow` names, too."""
    OPEN = "open"
    """Every public address, and the hosts that `allow` names."""


class Verdict(StrEnum):
    """What became of a connection."""

    ALLOWED = "allowed"
    NO_EGRESS = "no egress"
    NOT_LISTED = "not in the allow list"
    NOT_PUBLIC = "not a public address"
    UNKNOWN = "no such host"
    UNREACHABLE = "not reachable"
    TOO_MANY = "too many connections at once"
    MALFORMED = "no request that a proxy serves"

    @property
    def is_refusal(self) -> bool:
        """Whether it was our decision, and a setting can change it."""
        return self in (Verdict.NO_EGRESS, Verdict.NOT_LISTED, Verdict.NOT_PUBLIC)


class Traffic(Record):
    """The connections to one place, summed up."""

    host: str
    port: int
    verdict: Verdict
    connections: int
    sent_bytes: int = 0
    received_bytes: int = 0


class Rule(Record):
    """One entry of `allow`."""

    host: str
    """As it is compared: in lower case; a leading `*.` stands for any name below."""
    port: int | None = None

    @classmethod
    def parse(cls, entry: str) -> Self:
        found = ENTRY.fullmatch(entry.strip().lower())
        port = int(found["port"]) if found and found["port"] else None
        host = host_of(found["host"].removeprefix("*.")) if found else None
        wild = entry.strip().startswith("*.")
        if host is None or (port is not None and not 0 < port < 65536) or (wild and numeric(host)):
            raise ValueError(
                f"{entry!r} is no host: write api.example.com, *.example.org:443 or 10.0.0.5:8000"
            )
        return cls(host=f"*.{host}" if wild else host, port=port)

    def admits(self, host: str, port: int) -> bool:
        named = host.endswith(self.host[1:]) if self.host[:2] == "*." else host == self.host
        return named and (port in PORTS if self.port is None else port == self.port)

    def is_exact(self, host: str, port: int) -> bool:
        return (self.host, self.port) == (host, port)


class Egress(Record):
    mode: Mode = Mode.NONE
    allow: tuple[str, ...] = ()

    @model_validator(mode="after")
    def check(self) -> Self:
        rules = self.rules()
        if rules and self.mode is Mode.NONE:
            raise ValueError('allow needs egress = "allowlist" or "open"')
        if self.mode is Mode.ALLOWLIST and not rules:
            raise ValueError('egress = "allowlist" needs allow = ["HOST", …]')
        return self

    def rules(self) -> list[Rule]:
        return [Rule.parse(entry) for entry in self.allow]

    def judge_name(self, host: str, port: int) -> Verdict:
        """Before it is looked up; `host` is as `host_of` gives it."""
        if self.mode is Mode.NONE:
            return Verdict.NO_EGRESS
        if self.mode is Mode.ALLOWLIST and not any(r.admits(host, port) for r in self.rules()):
            return Verdict.NOT_LISTED
        return Verdict.ALLOWED

    def judge_addresses(self, host: str, port: int, addresses: Iterable[str]) -> Verdict:
        """One address that is not public is enough: the next lookup might give that one."""
        if self.is_exact(host, port) or all(map(is_public, addresses)):
            return Verdict.ALLOWED
        return Verdict.NOT_PUBLIC

    def is_exact(self, host: str, port: int) -> bool:
        """Whether the user named exactly this, and so may mean a machine of his own."""
        return any(rule.is_exact(host, port) for rule in self.rules())


NO_EGRESS = Egress()


def host_of(text: str) -> str | None:
    """A host as it is compared: lower case, no closing dot, no brackets; None when it is none."""
    host = text.lower()
    if host[:1] == "[" and host[-1:] == "]":
        try:
            return str(ipaddress.IPv6Address(host[1:-1])) if "%" not in host else None
        except ValueError:
            return None
    host = host.removesuffix(".")
    return host if len(host) <= 253 and NAME.fullmatch(host) else None


def numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_public(text: str) -> bool:
    """Whether an address belongs to the internet at large, whatever it is wrapped in."""
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(str(address.ipv4_mapped))
        # They carry an IPv4 address, and whoever unwraps it does not ask whose it is.
        if address.sixtofour is not None or address.teredo is not None:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved)
