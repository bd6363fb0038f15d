from engine.caching.contexts import ContextCache
from engine.denoisers.scripted import ScriptedContext


def a_context(*tokens: int) -> ScriptedContext:
    return ScriptedContext(tokens, tokens)


def test_the_same_window_is_encoded_once():
    cache = ContextCache(2)

    first = cache.find([1, 2], [0, 1], lambda: a_context(1, 2))
    second = cache.find([1, 2], [0, 1], lambda: a_context(9))

    assert first is second
    assert cache.num_hits == 1


def test_other_positions_are_another_window():
    cache = ContextCache(2)
    cache.find([1, 2], [0, 1], lambda: a_context(1))

    assert cache.find([1, 2], [0, 9], lambda: a_context(2)) == a_context(2)


def test_the_least_recently_used_goes_first():
    cache = ContextCache(2)
    for token in (1, 2, 1, 3):
        cache.find([token], [0], lambda token=token: a_context(token))

    assert cache.find([1], [0], lambda: a_context(9)) == a_context(1)
    assert cache.find([2], [0], lambda: a_context(9)) == a_context(9)
