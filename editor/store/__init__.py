"""SQLite through SQLAlchemy Core: schema, one writer, repositories. Acknowledge after commit."""
