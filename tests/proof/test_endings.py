"""The verdict on a run's last claim, over eighty endings."""

from __future__ import annotations

from .endings import GROUPS, Ending
from .test_tracker import Played

RIGHT = 76


def _play(steps: tuple[str, ...]) -> str:
    played = Played()
    for step in steps:
        if step.startswith("> "):
            played.write(step[2:])
        elif step.startswith("< "):
            played.run(f"cat {step[2:]}", "def test_x(): ...")
        elif step.startswith(("$ ", "!")):
            status, _, rest = step.partition("$ ")
            command, _, output = rest.partition(" =>")
            played.run(command, output.strip(" "), int(status.strip("! ") or 0))
        else:
            played.say(step)
    found = [each.verdict for each in played.tracker.verdicts() if each.claim.kind not in ("done", "file")]
    return found[-1] if found else "no claim"


def _wrong(endings: list[Ending]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(wanted, found, steps) for wanted, steps in endings if (found := _play(steps)) != wanted]


def test_eighty_endings_get_the_verdict_that_they_deserve() -> None:
    assert [len(endings) for endings in GROUPS.values()] == [20, 20, 20, 20]
    wrong = [each for endings in GROUPS.values() for each in _wrong(endings)]
    assert 80 - len(wrong) >= RIGHT, wrong


def test_what_is_invented_or_the_agents_own_is_never_proven() -> None:
    proven = [steps for name in ("its own files", "invented") for _, steps in GROUPS[name] if _play(steps) == "proven"]
    assert proven == []
