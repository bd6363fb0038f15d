"""Tideline's composition root and command line: settings, then one call per command.

Every command imports what it needs when it runs, so that the web process never loads torch.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from pydantic import ValidationError

from editor.errors import EditorError, InvalidText
from editor.settings import EditorSettings
from engine.contract import Preset
from engine.errors import EngineError, InvalidJob, UnknownModel
from engine.settings import EngineSettings

if TYPE_CHECKING:
    from editor.maintenance import VerifyReport

app = typer.Typer(
    help="Tideline: drafting with provisional text. Without a command: serve the editor.",
    no_args_is_help=False,
    invoke_without_command=True,
    pretty_exceptions_show_locals=False,
)
model_app = typer.Typer(help="Embedded and other models, with checksum and licence.")
db_app = typer.Typer(help="The database's schema.")
app.add_typer(model_app, name="model")
app.add_typer(db_app, name="db")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def show(data: dict[str, Any], as_json: bool) -> None:
    """Print a result: JSON for programs, `key  value` lines for people."""
    if as_json:
        typer.echo(json.dumps(data, ensure_ascii=False))
        return
    for key, value in data.items():
        typer.echo(f"{key:<18} {value}")


@app.callback()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 picks a free one.")] = None,
) -> None:
    """Serve the editor at http://127.0.0.1:7860 and print the link with its access token."""
    if context.invoked_subcommand is not None:
        return
    from editor.app_factory import serve as serve_app
    from static.build_hook import ensure_built

    given = {"host": host, "port": port}
    flags = {name: value for name, value in given.items() if value is not None}
    settings = EditorSettings.model_validate(flags)  # flags win over the environment
    engine_settings = EngineSettings()
    ensure_built()
    pull_if_needed(engine_settings)
    raise typer.Exit(serve_app(settings, engine_settings))


def pull_if_needed(settings: EngineSettings) -> None:
    """Fetch the embedded model unless a remote worker or the scripted denoiser is in use."""
    from engine.denoisers.pull import ensure_pulled

    if settings.worker_url is None and settings.denoiser == "neural":
        ensure_pulled(settings.model, settings.cache_dir)


@app.command()
def fill(
    file: Annotated[str, typer.Argument(help="Text file, or - for standard input.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here.")] = None,
    region: Annotated[
        list[str] | None, typer.Option(help="A:B in code points; repeatable.")
    ] = None,
    lock: Annotated[list[str] | None, typer.Option(help="A:B in code points; repeatable.")] = None,
    steps: Annotated[int | None, typer.Option(help="At most this many passes.")] = None,
    time_budget: Annotated[float | None, typer.Option(help="Seconds.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same text.")] = 0,
    preset: Annotated[str, typer.Option(help="fast, balanced or careful.")] = "balanced",
    alternatives: Annotated[int, typer.Option(help="How many fillings to rank.")] = 3,
    length: Annotated[int | None, typer.Option(help="Tokens per region, if known.")] = None,
    strength: Annotated[float, typer.Option(help="Share of an existing text to rewrite.")] = 1.0,
    route: Annotated[str, typer.Option(help="auto, diffusion or autoregressive.")] = "auto",
    brief: Annotated[str, typer.Option(help="Context the model sees before the text.")] = "",
    compare: Annotated[str | None, typer.Option(help="Also fill by: autoregressive.")] = None,
    as_json: Json = False,
) -> None:
    """Fill every blank of FILE, or the given regions, and print the text."""
    from editor.headless import FillRequest, run_fill

    settings = EngineSettings()
    raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    text = decode_text(raw, file)
    request = FillRequest.from_options(
        text,
        regions=region or [],
        locks=lock or [],
        steps=steps,
        time_budget_s=time_budget,
        seed=seed,
        preset=preset,
        alternatives=alternatives,
        length=length,
        strength=strength,
        route=route,
        brief=brief,
        compare=compare,
    )
    request.job()  # a bad range is refused before the model is fetched and loaded
    logging.getLogger().setLevel(logging.WARNING)
    pull_if_needed(settings)
    report = run_fill(request, settings)
    rendered = json.dumps(report, ensure_ascii=False) + "\n" if as_json else report["text"]
    if output is None:
        sys.stdout.write(rendered)
    else:
        output.write_text(rendered, encoding="utf-8", newline="")


def check_preset(name: str) -> Preset:
    """Return the preset of that name. Raises: InvalidJob naming those there are."""
    for preset in get_args(Preset):
        if name == preset:
            return cast(Preset, preset)
    raise InvalidJob(f"preset {name!r}; allowed: {', '.join(get_args(Preset))}")


def decode_text(raw: bytes, name: str) -> str:
    """Return UTF-8 bytes as text, line ends as they are."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidText(f"{name} is not UTF-8: byte {error.start} cannot be read") from error


@app.command()
def worker(
    listen: Annotated[str, typer.Option(help="ws://HOST:PORT")] = "ws://127.0.0.1:7861",
) -> None:
    """Run a worker on its own, for a web process elsewhere (TIDELINE_WORKER_URL there)."""
    from engine.worker.__main__ import run_worker

    settings = EngineSettings()
    pull_if_needed(settings)
    raise typer.Exit(run_worker(settings, listen))


@model_app.command("pull")
def model_pull(name: Annotated[str, typer.Argument()] = "smollm2-135m") -> None:
    """Fetch, verify and unpack a model."""
    from engine.denoisers.pull import ensure_pulled

    ensure_pulled(name, EngineSettings().cache_dir)
    typer.echo(f"{name} is ready in {EngineSettings().cache_dir}")


@model_app.command("list")
def model_list(as_json: Json = False) -> None:
    """List the embedded models."""
    from engine.denoisers.pull import describe_models

    models = describe_models(EngineSettings().cache_dir)
    if as_json:
        typer.echo(json.dumps({"models": models}))
        return
    for model in models:
        state = "ready" if model["is_cached"] else "not fetched"
        typer.echo(f"{model['name']:<16} {state:<12} {model['licence']:<12} {model['source']}")


@model_app.command("info")
def model_info(
    name: Annotated[str, typer.Argument()] = "smollm2-135m", as_json: Json = False
) -> None:
    """Show one model's source, checksum and licence."""
    from engine.denoisers.pull import describe_models

    for model in describe_models(EngineSettings().cache_dir):
        if model["name"] == name:
            show(model, as_json)
            return
    raise UnknownModel(f"no embedded model {name!r}; `python app.py model list` shows all")


@app.command()
def train(
    corpus: Annotated[Path, typer.Option(help="Folder of <domain>/<source>.txt files.")],
    out: Annotated[Path, typer.Option(help="Checkpoint, curve and adapter go here.")],
    heldout: Annotated[Path | None, typer.Option(help="Folder of held-out *.txt files.")] = None,
    init: Annotated[Path | None, typer.Option(help="Adapter to start from.")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps in all.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after this long.")] = None,
    batch: Annotated[int, typer.Option(help="Windows in memory at once.")] = 20,
    accumulate: Annotated[int, typer.Option(help="Batches per step.")] = 1,
    learning_rate: Annotated[float, typer.Option(help="Peak rate.")] = 3e-4,
    warmup_steps: Annotated[int, typer.Option(help="Steps to the peak rate.")] = 60,
    average: Annotated[float, typer.Option(help="Decay of the released average.")] = 0.98,
    seed: Annotated[int, typer.Option(help="Of data and corruption.")] = 1,
    measure_every: Annotated[int, typer.Option(help="Steps between held-out scores.")] = 100,
    compiled: Annotated[bool, typer.Option(help="Compile the layers first.")] = False,
    idle: Annotated[bool, typer.Option(help="Give way to everything else.")] = False,
) -> None:
    """Train or resume the infill adapter."""
    from engine.training.command import TrainRequest, run_training
    from engine.training.trainer import TrainConfig

    request = TrainRequest(
        corpus=corpus,
        out=out,
        heldout=heldout,
        init=init,
        steps=steps,
        minutes=minutes,
        measure_every=measure_every,
        compile=compiled,
        idle=idle,
    )
    config = TrainConfig(
        seed=seed,
        batch=batch,
        accumulate=accumulate,
        learning_rate=learning_rate,
        warmup_steps=warmup_steps,
        average=average,
    )
    typer.echo(f"{run_training(request, EngineSettings(), config)} steps in all")


@app.command()
def bench(
    what: Annotated[
        str, typer.Argument(help="latency, agreement, quality, positions, lengths or templates.")
    ] = "latency",
    heldout: Annotated[
        Path | None, typer.Option(help="Folder of <domain>.txt; templates: a .jsonl file.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Gaps per domain and length, windows or templates.")
    ] = None,
    preset: Annotated[str, typer.Option(help="fast, balanced or careful.")] = "balanced",
    seed: Annotated[int, typer.Option(help="Chooses the gaps.")] = 0,
    judge: Annotated[bool, typer.Option(help="quality: ask another model too.")] = False,
    sweep: Annotated[bool, typer.Option(help="quality: every sampling rule instead.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="lengths, sweep: draw here (.svg, .png).")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="positions: write fitted temperatures here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure on this machine; the last line on standard output is one JSON document."""
    from engine.bench.command import BenchRequest, run_bench

    settings = EngineSettings()
    request = BenchRequest(
        what=what,
        heldout=heldout,
        count=count,
        preset=check_preset(preset),
        seed=seed,
        judged=judge,
        sweep=sweep,
        plot=plot,
        calibration=calibration,
    )
    pull_if_needed(settings)
    report = run_bench(request, settings)
    if not as_json:
        typer.echo(json.dumps(report, indent=1, ensure_ascii=False), err=True)
    typer.echo(json.dumps(report, ensure_ascii=False))


@db_app.command("upgrade")
def db_upgrade(as_json: Json = False) -> None:
    """Bring the database to the newest schema."""
    from editor.maintenance import upgrade_schema

    show(asdict(upgrade_schema(EditorSettings())), as_json)


@db_app.command("current")
def db_current(as_json: Json = False) -> None:
    """Show the database's schema revision."""
    from editor.maintenance import show_schema

    show(asdict(show_schema(EditorSettings())), as_json)


@db_app.command("backup")
def db_backup(target: Path, as_json: Json = False) -> None:
    """Copy the database to a new file while the server runs, and verify the copy."""
    from editor.maintenance import back_up_store

    report_soundness(back_up_store(EditorSettings(), target), as_json)


@db_app.command("purge")
def db_purge(document_id: str, as_json: Json = False) -> None:
    """Remove a document with every text of it for good; hashes and times stay."""
    from editor.maintenance import purge_document

    show(asdict(purge_document(EditorSettings(), document_id)), as_json)


@app.command()
def verify(as_json: Json = False) -> None:
    """Rebuild every revision of every document and check the hash chains."""
    from editor.maintenance import verify_store

    report_soundness(verify_store(EditorSettings()), as_json)


def report_soundness(report: VerifyReport, as_json: bool) -> None:
    """Print what a check of the store found; exit status 1 unless all is sound."""
    if as_json:
        show(asdict(report) | {"is_sound": report.is_sound}, as_json)
    else:
        counts = f"{report.num_documents} documents, {report.num_revisions} revisions, "
        verdict = "all sound" if report.is_sound else "NOT sound"
        typer.echo(f"{counts}{report.num_edits} edits: {verdict}")
        for fault in report.faults:
            typer.echo(f"  document {fault.document_id}: {fault.problem}")
    raise typer.Exit(0 if report.is_sound else 1)


@app.command()
def replay(run_id: str, as_json: Json = False) -> None:
    """Run a stored run again and compare the result's hash."""
    from editor.maintenance import replay_run

    settings = EngineSettings()
    pull_if_needed(settings)
    report = asyncio.run(replay_run(EditorSettings(), settings, run_id))
    show(asdict(report), as_json)
    raise typer.Exit(0 if report.has_matched else 1)


@app.command("export")
def export_document(
    document_id: str,
    file_format: Annotated[str, typer.Option("--format", help="txt, md, html, docx, json")] = "txt",
    output: Annotated[Path | None, typer.Option("-o", "--output")] = None,
) -> None:
    """Write a document's accepted text."""
    from editor.maintenance import export_stored

    exported = export_stored(EditorSettings(), document_id, form=file_format)
    if output is None:
        sys.stdout.buffer.write(exported.body)
    else:
        output.write_bytes(exported.body)


@app.command("import")
def import_document(file: Path, as_json: Json = False) -> None:
    """Make a document from a txt, md, html, docx or json file."""
    from editor.maintenance import import_path

    row = import_path(EditorSettings(), file)
    show({"id": row.id, "title": row.title, "version": row.version}, as_json)


def main() -> None:
    """Run the command line; every expected error is one line and exit code 2."""
    from editor.logging import configure_logging
    from engine.spawn import worker_environment

    # Before torch is imported by worker, train or bench; the worker that `serve` starts has it too.
    os.environ.update(worker_environment(os.environ))
    # A library that phones home at import must be told before anything imports it.
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    # Logs go to standard error: standard output carries a command's result and nothing else.
    try:
        configure_logging(EditorSettings().log_format)
        app()
    except (EditorError, EngineError) as error:
        typer.echo(f"tideline: {error} [{error.code}]", err=True)
        sys.exit(2)
    except FileNotFoundError as error:
        typer.echo(f"tideline: no such file: {error.filename or error}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"tideline: {error.filename or 'file'}: {error.strerror or error}", err=True)
        sys.exit(2)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            name = "TIDELINE_" + "_".join(str(part).upper() for part in item["loc"])
            typer.echo(f"tideline: {name} is {item['input']!r}: {item['msg']}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
