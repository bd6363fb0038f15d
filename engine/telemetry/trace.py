"""One record per pass: counts, confidences, times and a keyed hash; never a token.

Pure. The key is made once per worker process, so a hash tells two equal canvases of one
process apart from others and nothing to anyone else.
"""

from __future__ import annotations

import hashlib

from torch import Tensor

from engine.contract import PassRecord

__all__ = ["canvas_hash", "record_pass"]


def canvas_hash(tokens: Tensor, state: Tensor, key: bytes) -> str:
    """Return a keyed digest of a canvas, 16 hex digits."""
    digest = hashlib.blake2b(key=key, digest_size=8)
    digest.update(tokens.numpy().tobytes())
    digest.update(state.numpy().tobytes())
    return digest.hexdigest()


def record_pass(
    pass_index: int,
    counts: tuple[int, int, int, int],
    means: tuple[float, float],
    *,
    pass_ms: float,
    digest: str,
) -> PassRecord:
    """Make a record from (committed, remasked, edited, masked left) and (confidence, entropy)."""
    committed, remasked, edited, masked_left = counts
    return PassRecord(
        pass_index=pass_index,
        committed=committed,
        remasked=remasked,
        edited=edited,
        masked_left=masked_left,
        mean_confidence=round(means[0], 6),
        mean_entropy=round(means[1], 6),
        pass_ms=round(pass_ms, 3),
        canvas_hash=digest,
    )
