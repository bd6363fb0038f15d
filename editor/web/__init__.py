"""HTTP and websocket face of the editor: routes, access, health. It decides nothing itself."""
