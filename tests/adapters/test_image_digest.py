"""Results that are pictures: another picture is another result, the same one is the same."""

from __future__ import annotations

import msgspec
import pytest

from interlock.adapters.proxy.formats.interface import text_of
from interlock.adapters.traces.transcript import Transcript, TranscriptLine, image_placeholder
from interlock.core import Seen
from interlock.detect import Detectors


def png(n: int) -> dict[str, object]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": f"iVBORw0KGgo{n:04}=="}}


@pytest.mark.parametrize(
    "block",
    [
        png(1),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_image", "file_id": "file-1"},
    ],
)
def test_an_image_has_a_name_wherever_its_provider_puts_it(block: dict[str, object]) -> None:
    assert image_placeholder(block).startswith("[image x")
    assert text_of([{"type": "text", "text": "Done."}, block]) == f"Done.\n{image_placeholder(block)}"
    assert image_placeholder(block) != image_placeholder({"type": block["type"]})


def test_other_blocks_have_none() -> None:
    assert image_placeholder({"type": "text", "data": "AAAA"}) == ""


def alarms(pictures: list[int]) -> list[str]:
    """What rises over screenshots, one after the other, as Claude Code's transcript has them."""
    reader, detectors, found = Transcript("run"), Detectors(), []
    for at, n in enumerate(pictures):
        call = {"type": "tool_use", "id": f"c{at}", "name": "screenshot", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{at}", "content": [png(n)]}
        for role, block in (("assistant", call), ("user", result)):
            line = {"type": role, "message": {"role": role, "content": [block]}}
            for step in reader.steps(msgspec.convert(line, TranscriptLine)):
                found += [issue.type for issue in detectors.observe(Seen(step))]
    return found


def test_screens_that_change_are_no_loop_and_a_screen_that_stays_is() -> None:
    assert alarms(list(range(12))) == []
    assert "loop" in alarms([1] * 6)
