"""What stands between the web and a document's authority: import, export, regions asked for."""
