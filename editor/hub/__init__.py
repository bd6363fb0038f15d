"""One authority for each open document: pure decisions, and the room that carries them out."""
