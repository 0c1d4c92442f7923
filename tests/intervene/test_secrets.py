"""The quick look before the patterns overlooks nothing that they would find."""

import re

from hypothesis import given
from hypothesis import strategies as st

from interlock.intervene.incident import ASSIGNED, REMOVED, SECRET_TEXT, SHORTEST, scrub

AROUND = st.text(max_size=20)
SECRETS = [st.from_regex(re.compile(each.pattern, each.flags)) for each in (SECRET_TEXT, ASSIGNED)]


@given(AROUND, st.one_of(*SECRETS), AROUND)
def test_whatever_a_pattern_finds_is_removed(before, secret, after):
    text = before + secret + after
    found = SECRET_TEXT.search(text) or ASSIGNED.search(text)
    if found is not None and len(text) >= SHORTEST:
        assert REMOVED in scrub(text)


@given(st.text(alphabet=st.sampled_from("sk-gh_xoAIey password=token:\"'\udc80éſK"), max_size=60))
def test_texts_of_the_same_letters_are_read_the_same(text):
    slowly = ASSIGNED.sub(lambda found: found[1] + REMOVED, SECRET_TEXT.sub(REMOVED, text))
    assert scrub(text) == (slowly if len(text) >= SHORTEST else text)
