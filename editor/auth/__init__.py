"""Who may come in: one access token, a signed cookie made from it, and known origins."""
