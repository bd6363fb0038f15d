"""Where text becomes positions and positions become text; the only writer of tokens."""
