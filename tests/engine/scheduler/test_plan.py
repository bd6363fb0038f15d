from engine.scheduler.plan import RunningJob, WaitingJob, admit, choose_next, choose_to_start


def test_a_newcomer_is_not_stuck_behind_a_long_job():
    long, short = RunningJob("long", order=1, turn=8), RunningJob("short", order=2, turn=7)

    assert choose_next([long, short]) == "short"


def test_jobs_take_turns():
    turns = {"a": 0, "b": 0, "c": 0}
    served = []

    for _ in range(9):
        chosen = choose_next(RunningJob(name, i, turns[name]) for i, name in enumerate(turns))
        served.append(chosen)
        turns[chosen] += 1

    assert served == ["a", "b", "c"] * 3


def test_of_equal_turns_the_earliest_deadline_goes_first():
    relaxed = RunningJob("relaxed", 1, 0)
    urgent = RunningJob("urgent", 2, 0, deadline_at_s=5.0)

    assert choose_next([relaxed, urgent]) == "urgent"


def test_nothing_runs_when_nothing_is_there():
    assert choose_next([]) is None
    assert choose_to_start([], num_running=0, max_running=1) is None


def test_a_waiting_job_starts_only_where_there_is_room():
    waiting = [WaitingJob("late", 1), WaitingJob("urgent", 2, deadline_at_s=1.0)]

    assert choose_to_start(waiting, num_running=0, max_running=1) == "urgent"
    assert choose_to_start(waiting, num_running=1, max_running=1) is None


def test_admission_states_the_wait():
    assert admit(1, 1, max_waiting=2, mean_job_s=3.0).is_admitted
    refused = admit(2, 1, max_waiting=2, mean_job_s=3.0)
    assert not refused.is_admitted
    assert refused.wait_s == 9.0
