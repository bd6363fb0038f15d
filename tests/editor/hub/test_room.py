import asyncio
import json

import pytest

from editor.document.changes import replace
from editor.errors import DiskFull, LockViolation, NotFound
from editor.hub import commands
from editor.hub.effects import SubmitJob
from editor.hub.outbox import Outbox
from editor.hub.room import Greeting, Room, RoomContext
from editor.store import documents as store
from editor.store import log
from editor.store.database import Database, database_url
from editor.web.metrics import Metrics
from tests.editor.builders import NOW_S, a_document, new_ids


@pytest.fixture
def database(tmp_path):
    database = Database(database_url(tmp_path))
    yield database
    database.close()


def open_room(database, markup="One two three.", actions=None):
    state = a_document(markup)
    database.write_now(lambda db: store.add_document(db, state, now_s=NOW_S))
    context = RoomContext(
        database=database,
        limit=10_000,
        now_s=lambda: NOW_S,
        new_id=new_ids(),
        act=lambda _room, action: (actions if actions is not None else []).append(action),
        figures=Metrics(),
        worker_state=lambda: "ready",
    )
    return Room(state, context)


def an_edit(room, words="New. ", op_id="op"):
    change = replace(len(room.state.text), 0, 0, words)
    return commands.ApplyEdit(op_id, room.state.version, "client", (change,))


def stored(database):
    return database.read_now(lambda db: store.load_document(db, "document"))


async def attached(room, **greeting):
    outbox = Outbox(now_s=lambda: NOW_S)
    await room.attach(outbox, Greeting(**greeting))
    await outbox.take()
    return outbox


async def take(outbox):
    frame = await outbox.take()
    return json.loads(frame)


def test_S3_a_frame_is_sent_only_after_its_commit(database):
    async def scenario():
        room = open_room(database)
        outbox = await attached(room)
        await room.execute(an_edit(room))
        return await take(outbox), stored(database)

    frame, found = asyncio.run(scenario())

    assert (frame["type"], frame["version"], frame["hash"]) == ("edited", 1, found.hash)
    assert found.text == "New. One two three."


def test_a_store_that_is_full_leaves_the_old_state_and_sends_nothing(database):
    def limit_pages(db, pages=None):
        pages = pages or db.exec_driver_sql("PRAGMA page_count").scalar()
        db.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    async def scenario():
        room = open_room(database)
        outbox = await attached(room)
        await database.write(limit_pages)
        with pytest.raises(DiskFull):
            await room.execute(an_edit(room, "x" * 9_000))
        assert (room.state.text, room.state.version, room.seq) == ("One two three.", 0, 0)
        await database.write(lambda db: limit_pages(db, 1_000_000))
        await room.execute(an_edit(room))
        return await take(outbox), room.state

    frame, state = asyncio.run(scenario())

    assert (frame["type"], frame["seq"], frame["version"]) == ("edited", 1, 1)
    assert stored(database).text == state.text == "New. One two three."


def test_a_command_goes_on_when_its_sender_has_gone(database):
    async def scenario():
        room = open_room(database)
        task = asyncio.create_task(room.execute(an_edit(room)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await room.close()
        return room.state

    state = asyncio.run(scenario())

    assert state.text == stored(database).text == "New. One two three."


def test_commands_of_many_senders_happen_one_after_the_other(database):
    async def scenario():
        room = open_room(database)
        outbox = await attached(room)

        def make(number):
            return lambda state: commands.ApplyEdit(
                f"op{number}",
                state.version,
                f"client{number}",
                (replace(len(state.text), 0, 0, f"{number}."),),
            )

        await asyncio.gather(*(room.execute_made(make(n), outbox) for n in range(25)))
        return [await take(outbox) for _ in range(25)], room.state

    frames, state = asyncio.run(scenario())

    assert [frame["version"] for frame in frames] == list(range(1, 26))
    assert [frame["seq"] for frame in frames] == list(range(1, 26))
    assert stored(database).text == state.text


def test_a_refused_command_stores_and_sends_nothing(database):
    async def scenario():
        room = open_room(database, "Give «5 mg» daily")
        change = replace(len(room.state.text), 5, 6, "50")
        with pytest.raises(LockViolation):
            await room.execute(commands.ApplyEdit("op", 0, "client", (change,)))
        return room.seq

    assert asyncio.run(scenario()) == 0
    assert stored(database).version == 0


def test_jobs_are_submitted_only_after_the_run_is_stored(database):
    seen = []

    class Watch(list):
        def append(self, action):
            runs = database.read_now(lambda db: db.exec_driver_sql("SELECT id FROM runs").all())
            seen.append((action, [run.id for run in runs]))

    async def scenario():
        room = open_room(database, "A ‹[___]› b", actions=Watch())
        await room.execute(commands.RequestRefine("op", 0, None))

    asyncio.run(scenario())

    ((action, run_ids),) = seen
    assert isinstance(action, SubmitJob)
    assert run_ids == [action.job.job_id]


def test_closing_seals_what_was_typed(database):
    async def scenario():
        room = open_room(database)
        await room.execute(an_edit(room))
        await room.close()

    asyncio.run(scenario())

    revisions = database.read_now(lambda db: list(log.revisions_of(db, "document")))
    assert [(r.n, r.version) for r in revisions] == [(0, 0), (1, 1)]


def test_a_purged_document_takes_no_further_command(database):
    async def scenario():
        room = open_room(database)
        outbox = await attached(room)
        await room.purge(lambda db: store.purge_document(db, "document", now_s=NOW_S))
        with pytest.raises(NotFound, match="deleted"):
            await room.execute(an_edit(room))
        return await outbox.take()

    assert asyncio.run(scenario()) is None


def test_resuming_replays_exactly_the_missed_frames_or_starts_afresh(database, monkeypatch):
    monkeypatch.setattr("editor.hub.room.MAX_RECENT_FRAMES", 20)

    async def scenario():
        room = open_room(database)
        for number in range(40):  # more than are kept
            await room.execute(an_edit(room, "x", op_id=f"op{number}"))
        outcomes = []
        for since, epoch in ((30, room.epoch), (40, room.epoch), (10, room.epoch), (30, "old")):
            outbox = Outbox(now_s=lambda: NOW_S)
            await room.attach(outbox, Greeting(since=since, epoch=epoch))
            outbox.close()
            frames = []
            while (frame := await outbox.take()) is not None:
                frames.append(json.loads(frame))
            outcomes.append((frames[0]["resumed"], [frame["seq"] for frame in frames[1:]]))
        return outcomes

    assert asyncio.run(scenario()) == [
        (True, list(range(31, 41))),
        (True, []),
        (False, []),
        (False, []),
    ]
