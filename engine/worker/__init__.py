"""The worker process: a synchronous core, its websocket rim and its entry."""
