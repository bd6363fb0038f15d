"""Who runs next: pure plans over plain data."""
