"""Healthy agents that wait: for a deployment, a build, a migration, a server."""

from __future__ import annotations

from collections.abc import Iterable

from .healthy import add_healthy
from .moves import bash, edit
from .outputs import pods
from .script import Turn, World


def polls(world: World) -> Iterable[Turn]:
    """Polls for 25 minutes with unchanged output, as the task says to."""
    for _ in range(int(25 * 60 / (30 + world.pace))):
        yield bash("sleep 30; kubectl get pods -n shop", pods(0, 2, "1h"), seconds=30)
    yield bash("sleep 30; kubectl get pods -n shop", pods(2, 2, "1h"), seconds=30)
    yield bash("kubectl get svc -n shop", "web   ClusterIP   10.0.0.7   80/TCP")


def builds(world: World) -> Iterable[Turn]:
    """Long builds of one target after the other, each looked at in between."""
    for number, target in enumerate(("core", "codec", "net", "store", "ui", "tools", "docs", "all")):
        lines = "\n".join(f"[{at * 4}%] Building CXX object {target}/part{at}.o" for at in range(25))
        yield bash(f"make -j4 {target}", f"{lines}\n[100%] Built target {target}", seconds=400)
        yield bash(f"ls -la build/{target}", f"-rwxr-xr-x 1 dev dev {90210 + number} {target}")
        yield edit(world, f"{target}/CMakeLists.txt", number)


def changing_status(world: World) -> Iterable[Turn]:
    """Asks for a status whose answer moves on."""
    for done in range(40):
        text = f"in progress · shop CI\njobs\n* test ({done + 1}/41 steps done) in {done * 20 + 12}s"
        yield bash("gh run view 4711 --repo shop/shop", text, seconds=10)
    yield bash("gh run view 4711 --repo shop/shop", "completed · success")


def follows_log(world: World) -> Iterable[Turn]:
    """Follows the log of a migration with tail -f and watch; often nothing is new."""
    for number in range(18):
        if number % 3:
            yield bash("timeout 60 tail -n 2 -f logs/migrate.log", "migrating orders ...", code=124, seconds=60)
        else:
            yield bash("watch -g -n 5 'wc -l logs/migrate.log'", f"{number * 1000} logs/migrate.log", seconds=45)
    yield bash("tail -n 1 logs/migrate.log", "migration finished")


def retries(world: World) -> Iterable[Turn]:
    """Starts a server and asks with growing pauses until it answers."""
    refused = "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server"
    yield bash("docker compose up -d", "Container shop-web-1  Started")
    for pause in (2, 4, 8, 16, 32, 60, 60):
        command = f"sleep {pause}; curl -sf http://localhost:8080/health"
        yield bash(command, refused, failed=True, code=7, seconds=pause)
    yield bash("sleep 60; curl -sf http://localhost:8080/health", '{"status": "ok"}', seconds=60)
    for number in range(10):
        yield edit(world, f"src/pages/page{number}.py", number)


add_healthy("polls-25-min", polls, "Deploy the shop and wait until the pods are ready; this can take half an hour")
add_healthy(
    "long-builds", builds, "Build every target with make and write the CMakeLists of core, codec, net and the others"
)
add_healthy("changing-status", changing_status, "Watch the CI run 4711 of shop and say how it ended")
add_healthy(
    "follows-log", follows_log, "Start the migration and wait until logs/migrate.log says that it finished", hints=2
)
add_healthy("retries", retries, "Start the shop with docker compose, wait until it is up, then write src/pages")
