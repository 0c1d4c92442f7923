"""interlock hub: keys of people and machines, and the configuration of the hub's server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from typer import Argument, Option

from .app import new_app
from .output import print_json, say

app = new_app("Manage the hub's keys and its server's configuration.")
keys_app = typer.Typer(
    help="List your own key and the trusted ones; make, add and remove keys.",
    rich_markup_mode=None,
    invoke_without_command=True,
)
app.add_typer(keys_app, name="keys")

JsonOption = Annotated[bool, Option("--json", help='{"own": KEY, "trusted": [{"public", "roles", "name"}]}')]
RoleOption = Annotated[str, Option("--role", help="owner, controller or viewer; several with commas.")]


@keys_app.callback()
def keys(context: typer.Context, json: JsonOption = False) -> None:
    """List our own public key and those that we trust.

    Example: interlock hub keys
    """
    if context.invoked_subcommand is not None:
        return
    from ..core import load_key, read_trusted

    key_file, trusted_file = _files()
    own, trusted = load_key(key_file), read_trusted(trusted_file)
    if json:
        print_json({"own": own.public if own else None, "trusted": [msgspec.to_builtins(key) for key in trusted]})
        return
    say(f"own key: {own.public}" if own else "no key yet: interlock hub keys make")
    for key in trusted:
        say(f"{key.public}  {','.join(key.roles)}  {key.name}")
    if not trusted:
        say("no other key is trusted: interlock hub keys add PUBLIC --role owner,controller --name NAME")


@keys_app.command()
def make() -> None:
    """Create your own key, in a file that only you can read.

    Example: interlock hub keys make
    """
    from ..contain import refuse_inside
    from ..core import create_key

    refuse_inside("make a key")
    say(create_key(_files()[0]).public)


@keys_app.command()
def add(
    public: Annotated[str, Argument(help="The public key: 56 characters that begin with U.")],
    role: RoleOption = "controller",
    name: Annotated[str, Option(help="The owner: shown as the actor of its requests.")] = "",
) -> None:
    """Trust a key: as owner of runs, as controller that may steer them, as viewer on the hub's server.

    Example: interlock hub keys add UD6OU4D3FZXZMOEBTFS3QWIDXB3QLC6GMIXL2BGCVAEXTXJFFSHWWLGF --role owner --name web-1
    """
    from ..contain import refuse_inside
    from ..core import read_trusted, trusted_key, write_trusted

    refuse_inside("trust a key")
    file = _files()[1]
    key = trusted_key(public, [part.strip() for part in role.split(",")], " ".join(name.split()))
    write_trusted([*(known for known in read_trusted(file) if known.public != public), key], file)
    say(f"{key.name} is trusted as {' and '.join(key.roles)}")


@keys_app.command()
def remove(key: Annotated[str, Argument(help="A public key, a prefix, or a name.")]) -> None:
    """Stop trusting a key. Generate the server's configuration again to keep it from connecting.

    Example: interlock hub keys remove web-1
    """
    from ..contain import refuse_inside
    from ..core import remove_trusted

    refuse_inside("change which keys are trusted")
    gone = remove_trusted(key, _files()[1])
    say(f"{gone.name} ({gone.public}) is no longer trusted")


@app.command()
def config(
    listen: Annotated[str, Option(metavar="HOST:PORT", help="Where the server listens.")] = "0.0.0.0:4222",
    store: Annotated[str, Option(metavar="FOLDER", help="Where the server keeps its streams.")] = "./jetstream",
) -> None:
    """Print a configuration for nats-server: each trusted key may do what its roles need, no other key may connect.

    Your own key is included as owner and controller. Add TLS and a cluster to the file as your network needs them.

    Example: interlock hub config --store /var/lib/nats > hub.conf
    """
    from ..core import BadInput, TrustedKey, load_key, read_trusted
    from ..link import server_config

    key_file, trusted_file = _files()
    own, found = load_key(key_file), read_trusted(trusted_file)
    if own is not None and all(key.public != own.public for key in found):
        found.insert(0, TrustedKey(own.public, ("owner", "controller"), "own key"))
    if not found:
        raise BadInput("there are no keys", todo="Create one with: interlock hub keys make")
    say(server_config(found, listen, store), nl=False)


def _files() -> tuple[Path | None, Path | None]:
    """The configured files of our own key and of those that we trust."""
    from ..config import load

    hub = load().hub
    own, trusted = (Path(name).expanduser() if name else None for name in (hub.key_file, hub.trusted_file))
    return own, trusted
