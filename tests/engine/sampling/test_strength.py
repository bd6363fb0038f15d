"""Which tokens of existing text are rewritten: whole words, the weakest first."""

from hypothesis import given
from hypothesis import strategies as st

from engine.denoisers.scripted import ScriptedCodec
from engine.sampling.strength import split_words, weakest_words


def test_letters_and_digits_that_touch_are_one_word():
    codec = ScriptedCodec()
    tokens = codec.encode("plan grizzled, 25 mg")

    words = [codec.decode([tokens[slot] for slot in word]) for word in split_words(tokens, codec)]

    assert words == ["plan", " ", "grizzled", ",", " ", "25", " ", "mg"]


def test_a_weak_token_takes_its_word_along():
    words = [[0], [1, 2, 3], [4], [5]]
    values = [0.9, 0.9, 0.01, 0.9, 0.5, 0.6]

    assert weakest_words(words, values, 0) == set()
    assert weakest_words(words, values, 1) == {1, 2, 3}, "too long, but the weakest"
    assert weakest_words(words, values, 4) == {1, 2, 3, 4}
    assert weakest_words(words, values, 6) == {0, 1, 2, 3, 4, 5}


def test_a_word_that_does_not_fit_is_left_for_one_that_does():
    assert weakest_words([[0], [1, 2, 3], [4]], [0.1, 0.2, 0.2, 0.2, 0.9], 2) == {0, 4}


@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=12),
    count=st.integers(0, 40),
    seed=st.randoms(use_true_random=False),
)
def test_only_whole_words_and_no_more_than_asked_but_for_the_first(sizes, count, seed):
    slots = iter(range(sum(sizes)))
    words = [[next(slots) for _ in range(size)] for size in sizes]
    values = [seed.random() for _ in range(sum(sizes))]

    chosen = weakest_words(words, values, count)

    taken = [word for word in words if chosen & set(word)]
    assert chosen == {slot for word in taken for slot in word}
    weakest = min(words, key=lambda word: min(values[slot] for slot in word))
    assert len(chosen) <= max(count, len(weakest) if count else 0)
