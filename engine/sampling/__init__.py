"""What is committed, revised, ranked and when to stop; sees logits and canvases, never a socket."""
