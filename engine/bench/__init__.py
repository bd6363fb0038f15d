"""Benchmarks: the same jobs that users run, measured beside the autoregressive base."""
