"""A kubelet's command line, word by word and as text."""

from __future__ import annotations

import pytest

from numalign.sources.kubelet.command_line import flags_of_text, flags_of_words

WORDS = {
    "a text behind the sign": (["--root-dir=/data"], {"root-dir": "/data"}),
    "a text in the next word": (["--root-dir", "/data"], {"root-dir": "/data"}),
    "a text with a sign in the next word": (
        ["--system-reserved", "cpu=1,memory=1Gi"],
        {"system-reserved": "cpu=1,memory=1Gi"},
    ),
    "a flag alone": (["--fail-swap-on", "--v=2"], {"fail-swap-on": "true", "v": "2"}),
    "without dashes, as in lists of arguments": (
        ["cpu-manager-policy=static", "v=2"],
        {"cpu-manager-policy": "static", "v": "2"},
    ),
    "a word that belongs to none": (["/usr/bin/kubelet", "--v=2", "stray"], {"v": "2"}),
}


@pytest.mark.parametrize("case", WORDS)
def test_flags_are_read_word_by_word(case: str) -> None:
    words, flags = WORDS[case]
    assert flags_of_words(words) == flags


def test_a_text_keeps_what_stands_behind_a_flag() -> None:
    text = "/usr/bin/kubelet --system-reserved cpu=1,memory=1Gi --cpu-manager-policy=static"
    assert flags_of_text(text) == {"system-reserved": "cpu=1,memory=1Gi", "cpu-manager-policy": "static"}
