"""The routes under /api. Blocking ones run in Starlette's threads."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import msgspec
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .._version import __version__
from ..config import Models, examine
from ..control import Command
from ..core import ENDED, InterlockError, NotFound
from ..link import Requests
from ..output import read_last_lines
from ..report import KINDS, JournalMetrics, answer_item, find_item
from . import files
from .access import number_from, read_body, to_json, to_number
from .files import list_pictures, read_picture
from .incidents import IncidentChoice, IncidentChoices
from .live import Live, StreamEvent, join_parts, to_line
from .run_head import make_head
from .source import Source

PAGE, MOST = 200, 1_000
POINTS = 500
PING_S = 15
RETRY_MS = 1_000


class OptionChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The option of an incident that a page requests."""

    option: str


class Back(msgspec.Struct, frozen=True, kw_only=True):
    """The rollback that a page requests."""

    to: str
    paths: list[str] = []
    reason: str | None = None


class InboxChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A page's answer to an item of the inbox."""

    answer: str
    reason: str = ""


class RequestedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that a page requests."""

    command: Command
    payload: dict[str, object] = {}
    reason: str | None = None


class Routes:
    """The dashboard's interface, over a source of runs."""

    def __init__(self, source: Source, controls: Requests) -> None:
        self.source, self.controls = source, controls
        self.live = Live(source, controls)
        self.choices = IncidentChoices(source.store)
        self._metrics = JournalMetrics(source.store)

    def all(self) -> list[Route]:
        run = "/api/runs/{run_id}"
        return [
            Route("/api/about", self.about),
            Route("/api/runs", self.runs),
            Route("/api/events", self.fleet_events),
            Route(run, self.run),
            Route(f"{run}/events", self.run_events),
            Route(f"{run}/lines", self.lines),
            Route(f"{run}/lines/{{seq}}", self.line),
            Route(f"{run}/series", self.series),
            Route(f"{run}/control", self.control, methods=["POST"]),
            Route(f"{run}/rollback", self.rollback, methods=["POST"]),
            Route(f"{run}/checkpoints/{{wanted}}/diff", self.difference),
            Route(f"{run}/checkpoints/{{wanted}}/preview", self.preview),
            Route(f"{run}/output", self.output),
            Route(f"{run}/pictures", self.pictures),
            Route(f"{run}/pictures/{{name}}", self.picture),
            Route("/api/inbox", self.inbox),
            Route("/api/inbox/{item}", self.answer, methods=["POST"]),
            Route("/api/incidents", self.incidents),
            Route("/api/incidents/{incident_id}", self.incident),
            Route("/api/incidents/{incident_id}/continue", self.continue_incident, methods=["POST"]),
            Route("/metrics", self.metrics),
        ]

    def about(self, _: Request) -> Response:
        """What this dashboard is, and the models that a run can be escalated to."""
        models = Models.from_config(examine().config)
        names = sorted(models.infos.values(), key=lambda info: -info.strength)
        return to_json(
            {
                "version": __version__,
                "host": socket.gethostname(),
                "store": str(self.source.store.root),
                "hub": self.source.hub is not None,
                "models": [info.name for info in names if info.name not in models.gone],
                "aliases": sorted(models.aliases),
            }
        )

    def runs(self, _: Request) -> Response:
        return to_json({"runs": self.source.rows(), "problem": self.source.problem})

    def run(self, request: Request) -> Response:
        story = self.source.story(request.path_params["run_id"])
        parts = make_head(story, self.controls.of(story.spec.run_id))
        return Response(join_parts(parts), media_type="application/json")

    async def fleet_events(self, request: Request) -> Response:
        return _stream(self.live.fleet())

    async def run_events(self, request: Request) -> Response:
        after = number_from(request, "after")
        run_id = request.path_params["run_id"]
        await run_in_threadpool(self.source.story, run_id)
        return _stream(self.live.run(run_id, after))

    def lines(self, request: Request) -> Response:
        """Part of the timeline, oldest first; with `step`, what happened up to it."""
        story = self.source.story(request.path_params["run_id"])
        before, step = number_from(request, "before"), number_from(request, "step")
        limit = number_from(request, "limit", PAGE, MOST) or PAGE
        given = frozenset(filter(None, request.query_params.get("kinds", "").split(",")))
        kinds = given & frozenset(KINDS) if given else None
        found = story.page(
            before=story.end_of_step(step) if before is None and step is not None else before,
            after=number_from(request, "after"),
            limit=limit,
            kinds=kinds,
            text=request.query_params.get("text", "")[:200] or None,
        )
        lines = [to_line(moment) for moment in found]
        return to_json({"lines": lines, "more": len(lines) >= limit, "last": story.last_seq})

    def line(self, request: Request) -> Response:
        """One moment with its whole record."""
        text = request.path_params["seq"]
        story = self.source.story(request.path_params["run_id"])
        seq = to_number(text)
        found = story.page(after=max(0, seq - 1), limit=1) if seq is not None else []
        if not found or found[0].seq != seq:
            raise NotFound(f"there is no record {text[:40]} in this run")
        return to_json(found[0])

    def series(self, request: Request) -> Response:
        points = number_from(request, "points", POINTS, 5_000) or POINTS
        story = self.source.story(request.path_params["run_id"], "series")
        return to_json({"series": story.series(max(2, points)), "sums": story.sums})

    async def control(self, request: Request) -> Response:
        """Send a command; its result comes with the run's events."""
        order = await read_body(request, RequestedCommand)
        return to_json(await run_in_threadpool(self._send, request.path_params["run_id"], order), 202)

    async def rollback(self, request: Request) -> Response:
        """Roll back: a live run does it itself; the files of an ended run are restored at once."""
        back = await read_body(request, Back)
        return await run_in_threadpool(self._roll_back, request.path_params["run_id"], back)

    def difference(self, request: Request) -> Response:
        folder = self.source.folder(request.path_params["run_id"])
        against = request.query_params.get("against", "before")
        return to_json(files.show_difference(folder, request.path_params["wanted"], against))

    def preview(self, request: Request) -> Response:
        folder = self.source.folder(request.path_params["run_id"])
        paths = request.query_params.getlist("path")[:500]
        return to_json(files.preview(folder, request.path_params["wanted"], paths))

    def output(self, request: Request) -> Response:
        """The end of what the command printed."""
        return to_json(read_last_lines(self.source.folder(request.path_params["run_id"]).output))

    def pictures(self, request: Request) -> Response:
        return to_json({"pictures": list_pictures(self.source.folder(request.path_params["run_id"]))})

    def picture(self, request: Request) -> Response:
        folder = self.source.folder(request.path_params["run_id"])
        kind, content = read_picture(folder, request.path_params["name"])
        return Response(content, media_type=kind, headers={"cache-control": "private, max-age=86400"})

    def inbox(self, _: Request) -> Response:
        """Everything that needs a person."""
        return to_json({"items": self.source.inbox()})

    async def answer(self, request: Request) -> Response:
        """Answer an item of the inbox, and report the result."""
        chosen = await read_body(request, InboxChoice)
        return await run_in_threadpool(self._answer, request.path_params["item"], chosen)

    def _answer(self, ref: str, chosen: InboxChoice) -> Response:
        item = find_item(self.source.store, ref, self.source.hub)
        answer = next((each for each in item.answers if each.name == chosen.answer), None)
        if answer is not None and "incident" in answer.payload:
            choice = self.choices.begin(str(answer.payload["incident"]), chosen.answer)
            return to_json({"ok": True, "message": f"{choice.option}: {choice.state}"}, 202)
        timeout = self.controls.timeout
        _, done = answer_item(self.source, item.id, chosen.answer, chosen.reason, timeout=timeout)
        return to_json({"ok": done.ok, "message": done.message}, 200 if done.ok else 409)

    def incidents(self, _: Request) -> Response:
        return to_json({"incidents": [self._incident(stored.id) for stored in self.choices.incidents.all()]})

    def incident(self, request: Request) -> Response:
        return to_json(self._incident(request.path_params["incident_id"]))

    async def continue_incident(self, request: Request) -> Response:
        chosen = await read_body(request, OptionChoice)
        choice: IncidentChoice = await run_in_threadpool(
            self.choices.begin, request.path_params["incident_id"], chosen.option
        )
        return to_json(choice, 202)

    def metrics(self, _: Request) -> Response:
        return Response(self._metrics.render(), media_type=self._metrics.content_type)

    def _send(self, run_id: str, order: RequestedCommand) -> object:
        if self.source.host_of(run_id) is None:
            # Raises for an unknown run.
            self.source.folder(run_id)
        return self.controls.send(order.command, run_id, order.payload, order.reason)

    def _roll_back(self, run_id: str, back: Back) -> Response:
        if self.source.host_of(run_id) is not None or self.source.story(run_id).summary.status not in ENDED:
            payload: dict[str, object] = {"to": back.to, "paths": back.paths or None}
            return to_json({"sent": self.controls.send("rollback", run_id, payload, back.reason)}, 202)
        folder = self.source.folder(run_id)
        return to_json({"restored": files.restore(folder, back.to, back.paths)})

    def _incident(self, incident_id: str) -> object:
        stored = self.choices.incidents.find(incident_id)
        run_id = stored.incident.run_id
        try:
            name = self.source.folder(run_id).spec().name
        except InterlockError:
            name = ""
        return {"run": name or run_id, "incident": stored, "way": self.choices.of(stored.id)}


def _stream(events: AsyncIterator[StreamEvent]) -> Response:
    async def messages() -> AsyncIterator[ServerSentEvent]:
        yield ServerSentEvent("{}", event="hello", retry=RETRY_MS)
        async for event in events:
            yield ServerSentEvent(event.data.decode(), event=event.name)

    return EventSourceResponse(messages(), ping=PING_S)
