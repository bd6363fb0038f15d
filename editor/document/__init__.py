"""Pure document model in code points: change sets, spans, revisions, suggestions. No I/O."""
