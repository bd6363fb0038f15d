"""The life of rooms. The engine is the real client with nobody to reach."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from editor.document.changes import replace
from editor.document.creation import NewDocument
from editor.errors import NotFound
from editor.hub import commands
from editor.hub.hub import Hub
from editor.settings import EditorSettings
from editor.store import documents as store
from editor.store import log, runs
from editor.store.database import Database, database_url
from editor.web.metrics import Metrics
from engine.client import EngineClient
from engine.settings import EngineSettings
from tests.editor.serving import NO_WORKER


@asynccontextmanager
async def open_hub(tmp_path, **options):
    database = Database(database_url(tmp_path))
    settings = EditorSettings(data_dir=tmp_path, access_token="t")
    try:
        async with (
            EngineClient(EngineSettings(worker_url=NO_WORKER)) as client,
            Hub(database, client, settings=settings, figures=Metrics(), **options) as hub,
        ):
            yield hub, database
    finally:
        database.close()


def an_edit(state, words="New. "):
    change = replace(len(state.text), 0, 0, words)
    return commands.ApplyEdit("op", state.version, "client", (change,))


def test_many_who_open_a_document_share_one_room(tmp_path):
    async def scenario():
        async with open_hub(tmp_path) as (hub, _database):
            made = await hub.create(NewDocument("Text"))

            async def find():
                async with hub.room(made.id) as room:
                    return room

            return await asyncio.gather(*(find() for _ in range(8)))

    rooms = asyncio.run(scenario())

    assert len({id(room) for room in rooms}) == 1


def test_an_unused_room_is_sealed_and_let_go_and_loads_again(tmp_path):
    async def scenario():
        async with open_hub(tmp_path, idle_s=0.0) as (hub, database):
            made = await hub.create(NewDocument("Text"))
            async with hub.room(made.id) as first:
                await first.execute(an_edit(first.state))
            async with asyncio.timeout(10):
                while hub.num_rooms:
                    await asyncio.sleep(0)
            async with hub.room(made.id) as second:
                state = second.state
            revisions = await database.read(lambda db: list(log.revisions_of(db, made.id)))
            return first is second, state, revisions

    is_same, state, revisions = asyncio.run(scenario())

    assert not is_same
    assert (state.text, state.version, state.pending) == ("New. Text", 1, None)
    assert [revision.version for revision in revisions] == [0, 1]


def test_a_room_in_use_is_not_let_go(tmp_path):
    async def scenario():
        async with open_hub(tmp_path, idle_s=0.0) as (hub, _database):
            made = await hub.create(NewDocument("Text"))
            async with hub.room(made.id) as room:
                async with hub.room(made.id):
                    pass
                for _ in range(20):
                    await asyncio.sleep(0)
                async with hub.room(made.id) as again:
                    return room is again

    assert asyncio.run(scenario())


def test_deleting_ends_the_room_and_the_document(tmp_path):
    async def scenario():
        async with open_hub(tmp_path) as (hub, database):
            made = await hub.create(NewDocument("Text"))
            async with hub.room(made.id) as room:
                await hub.delete(made.id)
                with pytest.raises(NotFound):
                    await room.execute(an_edit(room.state))
            with pytest.raises(NotFound):
                async with hub.room(made.id):
                    pass
            return await database.read(store.list_documents), hub.num_rooms

    assert asyncio.run(scenario()) == ([], 0)


def test_runs_left_by_a_server_that_ended_are_failed_at_the_next_start(tmp_path):
    async def ask_and_stop():
        async with open_hub(tmp_path) as (hub, _database):
            made = await hub.create(NewDocument("Fill ___ in"))
            async with hub.room(made.id) as room:
                await room.execute(commands.RequestRefine("op", 0, None))
                return made.id, room.state.active_runs[0].id

    async def look(run_id):
        async with open_hub(tmp_path) as (_hub, database):
            return await database.read(lambda db: runs.find_run(db, run_id))

    _, run_id = asyncio.run(ask_and_stop())
    row = asyncio.run(look(run_id))

    assert row.state in ("cancelled", "failed")
    assert row.message is not None
    assert "stopped" in row.message
