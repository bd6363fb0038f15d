"""The page that a browser without access sees. Self-contained: nothing else may be fetched."""

from __future__ import annotations

__all__ = ["ENTRY_PATH", "access_page"]

ENTRY_PATH = "/access"


def access_page(*, was_offered: bool) -> str:
    """Return the HTML; `was_offered` says that a token was given and is not this server's."""
    return _PAGE.replace("{problem}", _PROBLEM if was_offered else "")


_PROBLEM = (
    '<p class="problem" role="alert"><strong>That is not this server’s token.</strong> '
    "It changes when the server’s data directory does. Copy the newest one.</p>"
)

_PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tideline: access</title>
<style>
:root {{
  color-scheme: light dark;
  --paper: #fbfaf7; --ink: #1d2428; --soft: #566067; --line: #8a949a; --edge: #d9d8d2;
  --tide: #0b5c6b; --on-tide: #fff; --sheet: #fff; --bad: #9c1f14;
}}
@media (prefers-color-scheme: dark) {{ :root {{
  --paper: #14191c; --ink: #e7eaea; --soft: #a5b0b5; --line: #748087; --edge: #2c363b;
  --tide: #7fd0dc; --on-tide: #08262c; --sheet: #1b2226; --bad: #ff9d92;
}} }}
* {{ box-sizing: border-box }}
body {{
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
}}
main {{
  width: 100%; max-width: 30rem; padding: 2rem; background: var(--sheet);
  border: 1px solid var(--edge); border-radius: 12px;
}}
.wave {{ display: block; width: 3rem; margin-bottom: .75rem; color: var(--tide) }}
h1 {{ margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.25 }}
p {{ margin: 0 0 1rem; color: var(--soft) }}
code {{ font-size: .9em; color: var(--ink); overflow-wrap: anywhere }}
label {{ display: block; margin-bottom: .375rem; font-weight: 600 }}
.row {{ display: flex; gap: .5rem; flex-wrap: wrap }}
input {{
  flex: 1 1 12rem; min-width: 0; padding: .625rem .75rem; font: inherit; color: inherit;
  background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
}}
button {{
  padding: .625rem 1.25rem; font: inherit; font-weight: 600; color: var(--on-tide);
  background: var(--tide); border: 0; border-radius: 8px; cursor: pointer;
}}
:focus-visible {{ outline: 3px solid var(--tide); outline-offset: 2px }}
.problem {{ color: var(--bad) }}
.small {{ margin: 1.25rem 0 0; font-size: .875rem }}
</style>
</head>
<body>
<main>
<svg class="wave" viewBox="0 0 48 20" aria-hidden="true" fill="none" stroke="currentColor"
 stroke-width="3" stroke-linecap="round"><path d="M2 7c7-6 12-6 19 0s14 6 25-1"/>
<path d="M2 15c7-6 12-6 19 0" opacity=".55"/></svg>
<h1>This Tideline is locked</h1>
<p>Your documents stay on the machine that runs it. To get in, open the link that the program
printed in its terminal when it started; it looks like <code>http://…/?token=…</code></p>
{{problem}}
<form method="post" action="{ENTRY_PATH}">
<label for="token">Or paste the access token</label>
<div class="row">
<input id="token" name="token" type="password" required autofocus autocomplete="current-password"
 spellcheck="false" autocapitalize="off">
<button type="submit">Open</button>
</div>
</form>
<p class="small">The token is also kept in the file <code>access-token</code> in the server’s data
directory. This browser then remembers it for 30 days.</p>
</main>
</body>
</html>
"""
