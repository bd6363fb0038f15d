"""Training the infill adapter: corpus, corruption, objective, resumable loop."""
