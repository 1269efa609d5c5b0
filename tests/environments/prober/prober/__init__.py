"""Tries to get out of its sandbox while it loads; each task's row tells how one try went.

For verifiers 0.4 and 0.1 alike.

`outside` is what an attacker may know of the machine: paths, ports, process numbers. A try
returns what it got hold of, or nothing; an `OSError` means that it was refused.
"""

import ctypes
import http.client
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import verifiers

import envwright_host
from envwright_host import door

LIBC = ctypes.CDLL(None, use_errno=True)
NEWUSER, NEWNS, NEWNET = 0x10000000, 0x00020000, 0x40000000
SUMMONED = 200
MOST_FILES = 20_000


def system(name, *arguments):
    """A call of the C library; what it refuses is an OSError."""
    ctypes.set_errno(0)
    result = getattr(LIBC, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return f"{name} returned {result}"


def write(path):
    Path(path).write_text("here I was")
    return f"wrote {path}"


def stray(folder, allowed):
    """A file under `folder` that is no part of what was mounted on purpose."""
    for parent, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if os.path.join(parent, f) not in allowed]
        for name in files:
            if os.path.join(parent, name) not in allowed:
                return os.path.join(parent, name)
    return None


class Probes:
    def __init__(self, outside):
        self.outside = outside
        self.canary = outside["canary"]

    def numbers(self):
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]

    # what can be read

    def key_in_its_variables(self):
        return next((name for name, value in os.environ.items() if self.canary in value), None)

    def key_in_any_variables(self):
        for number in self.numbers():
            try:
                if self.canary.encode() in Path(f"/proc/{number}/environ").read_bytes():
                    return f"/proc/{number}/environ"
            except OSError:
                continue
        return None

    def key_in_any_command_line(self):
        for number in self.numbers():
            try:
                said = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            # The command that told us what to look for has it among its arguments, within another.
            if self.canary.encode() in said:
                return f"/proc/{number}/cmdline"
        return None

    def key_in_any_open_file(self):
        for number in self.numbers():
            try:
                links = list(Path(f"/proc/{number}/fd").iterdir())
            except OSError:
                continue
            for link in links:
                if os.path.isfile(link) and self.holds(link):
                    return str(link)
        return None

    def key_in_any_file(self):
        """Where it would lie, then all that is in sight and was not mounted on purpose."""
        own = os.path.dirname(self.outside["settings"])
        apart = ("/proc", "/sys", "/dev", "/usr", *self.outside["allowed"])
        left = MOST_FILES
        for top in (self.outside["home"], own, self.outside["state"], os.getcwd(), "/"):
            for parent, folders, files in os.walk(top):
                folders[:] = [f for f in folders if os.path.join(parent, f) not in apart]
                for name in files:
                    if self.holds(Path(parent, name)):
                        return os.path.join(parent, name)
                    left -= 1
                    if left == 0:
                        return "more files than a sandbox shows"
        return None

    def holds(self, path):
        try:
            return path.stat().st_size < 2**20 and self.canary.encode() in path.read_bytes()
        except OSError:
            return False

    def key_of_another_process(self):
        return Path(f"/proc/{self.outside['process']}/environ").read_text()

    def memory_of_another_process(self):
        with open(f"/proc/{self.outside['process']}/mem", "rb") as file:
            return str(file)

    def home(self):
        return Path(self.outside["home"], "secret").read_text()

    def home_through_another_root(self):
        for number in self.numbers():
            path = Path(f"/proc/{number}/root{self.outside['home']}/secret")
            try:
                return path.read_text()
            except OSError:
                continue
        return None

    def users_home(self):
        return stray(self.outside["users_home"], self.outside["allowed"])

    def checkout(self):
        return stray(self.outside["checkout"], self.outside["allowed"])

    def store(self):
        return Path(self.outside["state"], "envwright.db").read_bytes()[:15].decode()

    def blobs(self):
        return str(next(Path(self.outside["state"], "blobs").iterdir()))

    def another_revision(self):
        return Path(self.outside["another_revision"], "pyproject.toml").read_text()

    def neighbours_of_its_revision(self):
        own = Path(__file__).parents[1]
        return next((str(p) for p in own.parent.iterdir() if p != own), None)

    def settings(self):
        return Path(self.outside["settings"]).read_text()

    def users_of_the_machine(self):
        return Path("/etc/passwd").read_text()

    def private_keys_of_the_machine(self):
        return str(os.listdir("/etc/ssl/private"))

    def inherited_files(self):
        links = [
            os.readlink(f"/proc/self/fd/{fd}")
            for fd in range(64)
            if os.path.lexists(f"/proc/self/fd/{fd}")
        ]
        return next((link for link in links if link.startswith(self.outside["state"])), None)

    # who can be reached

    def loopback(self):
        with socket.create_connection(("127.0.0.1", self.outside["port"]), 3) as reached:
            return reached.recv(100).decode()

    def loopback_through_the_gateway(self):
        url = httpx.URL(os.environ["OPENAI_BASE_URL"])
        gate = http.client.HTTPConnection(url.host, url.port, timeout=5)
        gate.request("GET", f"http://127.0.0.1:{self.outside['port']}/")
        answer = gate.getresponse().read().decode()
        return answer if "outside" in answer else None

    def tunnel_through_the_gateway(self):
        url = httpx.URL(os.environ["OPENAI_BASE_URL"])
        gate = http.client.HTTPConnection(url.host, url.port, timeout=5)
        gate.set_tunnel("127.0.0.1", self.outside["port"])
        gate.connect()
        return "a tunnel"

    def abstract_socket(self):
        with socket.socket(socket.AF_UNIX) as reached:
            reached.settimeout(3)
            reached.connect("\0" + self.outside["abstract"])
            return "connected"

    def socket_in_a_folder(self):
        with socket.socket(socket.AF_UNIX) as reached:
            reached.settimeout(3)
            reached.connect(self.outside["socket"])
            return "connected"

    def sockets_of_services(self):
        return next((p for p in ("/run", "/var/run") if os.path.isdir(p) and os.listdir(p)), None)

    def internet(self):
        with socket.create_connection(("192.0.2.1", 443), 3):
            return "connected"

    def datagram(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"x", ("192.0.2.1", 53))
            return "sent"

    def names(self):
        return str(socket.getaddrinfo("example.com", 443))

    def interfaces(self):
        return next((name for _, name in socket.if_nameindex() if name != "lo"), None)

    # what can be written

    def write_root(self):
        return write("/envwright-was-here")

    def write_usr(self):
        return write("/usr/envwright-was-here")

    def write_etc(self):
        return write("/etc/envwright-was-here")

    def write_venv(self):
        return write(Path(sys.prefix, "envwright-was-here"))

    def write_interpreter(self):
        return write(Path(sys.base_prefix, "envwright-was-here"))

    def write_its_source(self):
        return write(Path(__file__).with_name("more.py"))

    def write_host_package(self):
        return write(Path(envwright_host.__file__).with_name("more.py"))

    def open_kernel_settings(self):
        """Opened for writing and left as they are: a sandbox that fails must not cost the machine."""
        for parent, _, files in os.walk("/proc/sys"):
            for name in files:
                try:
                    os.close(os.open(os.path.join(parent, name), os.O_WRONLY))
                except OSError:
                    continue
                return os.path.join(parent, name)
        return None

    def write_outside(self):
        """A private /tmp may take it; the test looks for it outside."""
        os.makedirs(self.outside["home"], exist_ok=True)
        write(Path(self.outside["home"], "left-behind"))
        return None

    # what can be done to others

    def signal_another_process(self):
        os.kill(self.outside["process"], 0)
        return "it is there"

    def see_the_worker(self):
        for number in self.numbers():
            try:
                said = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"envwright" in said:
                return str(said)
        return None

    def trace_another_process(self):
        return system("ptrace", 16, self.outside["process"], 0, 0)

    def namespaces_of_another_process(self):
        return os.readlink(f"/proc/{self.outside['process']}/ns/net")

    # what it can become

    def mount(self):
        return system("mount", b"none", b"/tmp", b"tmpfs", 0, None)

    def bind_over_its_source(self):
        return system("mount", b"/tmp", str(Path(__file__).parent).encode(), None, 4096, None)

    def make_a_user_namespace(self):
        return system("unshare", NEWUSER)

    def make_a_mount_namespace(self):
        return system("unshare", NEWNS)

    def make_a_network_namespace(self):
        return system("unshare", NEWNET)

    def change_root(self):
        os.chroot("/tmp")
        return "changed"

    def become_root(self):
        os.setuid(0)
        return "root"

    def make_a_device(self):
        os.mknod("/tmp/disk", 0o60600, os.makedev(8, 0))
        return "made"

    def capabilities(self):
        lines = Path("/proc/self/status").read_text().splitlines()
        held = [line for line in lines if line.startswith("Cap") and int(line.split()[1], 16)]
        fresh = [line for line in lines if line.startswith("NoNewPrivs") and line.split()[1] != "1"]
        return "; ".join([*held, *fresh]) or None

    def control_groups(self):
        return next((p for p in ("/sys/fs/cgroup", "/sys/kernel") if os.path.exists(p)), None)

    def terminal(self):
        with open("/dev/tty") as file:
            return str(file)

    # what it can use up

    def lift_the_memory_limit(self):
        try:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except ValueError as error:
            raise PermissionError(str(error)) from error
        return "lifted"

    def much_memory(self):
        try:
            return str(len(bytearray(64 * 2**30)))
        except MemoryError as error:
            raise OSError("out of memory") from error

    def much_memory_in_children(self):
        """Five times 400 MB, each within what one process may have. Tells how many live."""
        hold = "held = bytearray(b'x') * (400 * 2**20); print(1, flush=True); import time; time.sleep(60)"
        children = [
            subprocess.Popen([sys.executable, "-S", "-c", hold], stdout=subprocess.PIPE)
            for _ in range(5)
        ]
        for child in children:
            child.stdout.readline()
        alive = sum(child.poll() is None for child in children)
        for child in children:
            child.kill()
            child.wait()
            child.stdout.close()
        return f"{alive} of 5"

    def many_processes(self):
        """Tells how many of 200 there could be at once."""
        children = []
        try:
            while len(children) < SUMMONED:
                number = os.fork()
                if number == 0:
                    try:
                        time.sleep(60)
                    finally:
                        os._exit(0)
                children.append(number)
        except OSError:
            pass
        for number in children:
            os.kill(number, 9)
            os.waitpid(number, 0)
        return f"{len(children)} of {SUMMONED}"


def tried(probe):
    try:
        got = probe()
    except OSError as error:
        return f"refused: {type(error).__name__}: {error}"
    except Exception as error:
        return f"broken: {type(error).__name__}: {error}"
    return "nothing" if got is None else f"got: {got[:300]}"


def results(outside, only):
    """Every try by name and how it went; none without an outside to get to."""
    probes = Probes(outside) if outside else None
    names = [n for n, v in vars(Probes).items() if callable(v) and not n.startswith("_")]
    return [
        {"probe": name, "went": tried(getattr(probes, name))}
        for name in names
        if probes and name not in ("numbers", "holds") and (not only or name in only)
    ]


remembered: list[str] = []


async def status_of(said):
    """The gateway's status for the token that a reply names."""
    own = door.token_of_trial.get()
    if said == "remember":
        remembered.append(own)
        return float(len(own) >= 32)
    token = remembered[-1] if said == "remembered" else said
    body = {"model": "agent", "messages": [{"role": "user", "content": "hi"}]}
    headers = {door.TOKEN: token, door.SEAT: "agent"}
    async with httpx.AsyncClient() as client:
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        return float((await client.post(url, json=body, headers=headers)).status_code)


if verifiers.__version__.startswith("0.1."):
    from prober.environment import load_environment

    __all__ = ["load_environment"]
else:
    from prober.taskset import Prober

    __all__ = ["Prober"]
