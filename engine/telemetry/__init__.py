"""Aggregates of a run: pass records, run cards, replay. Never the user's words."""
