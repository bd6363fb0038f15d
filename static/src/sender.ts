/**
 * Decides what to send next: unlocking, then edits in order, then the rest; one op at a time.
 *
 * Owns op ids, batching (300 ms of quiet or 2 s of typing) and sending again; must not know what
 * the answers mean. An op keeps its id until it is answered, so that one sent twice applies once.
 */

import { getClientID, getSyncedVersion, sendableUpdates } from "@codemirror/collab"
import { Annotation, type EditorState, Transaction } from "@codemirror/state"
import { randomId } from "./outbox"
import type { ClientMessage, NewSpan, RefineSettings } from "./protocol.gen"
import { spanById } from "./spans"

export interface AcceptIntent {
  opId: string
  suggestionIds: string[]
  alternatives: Record<string, number>
  /** Suggestion id to text, where words of several alternatives were picked. */
  texts: Record<string, string>
}

/** Marks the local transaction that shows an accepted suggestion: it is sent as `accept`. */
export const acceptIntent = Annotation.define<AcceptIntent>()

/** Typing, undo and the like; not what others wrote, nor a suggestion that is put in. */
export function isOwnEdit(transaction: Transaction): boolean {
  const isRemote = transaction.annotation(Transaction.remote) === true
  return transaction.docChanged && !isRemote && transaction.annotation(acceptIntent) === undefined
}

export interface SpansTask {
  kind: "spans"
  opId: string
  add: string[]
  remove: string[]
}

export type Task =
  | SpansTask
  | { kind: "refine"; opId: string; regions: string[] | "all"; settings: RefineSettings; isBaseline?: boolean }
  | { kind: "reject"; opId: string; suggestionIds: string[] }
  | { kind: "restore"; opId: string; revision: number }
  | { kind: "name"; opId: string; name: string }

/** How the text of one op came: an op says so for all it inserts. */
export type EditOrigin = "typed" | "pasted"

function originOf(transaction: Transaction): EditOrigin {
  const isPasted = transaction.isUserEvent("input.paste") || transaction.isUserEvent("input.drop")
  return isPasted ? "pasted" : "typed"
}

export type OpUnderWay =
  | { kind: "edit"; opId: string; numUpdates: number; origin: EditOrigin }
  | { kind: "accept"; opId: string; numUpdates: 1; intent: AcceptIntent }
  | { kind: "task"; opId: string; numUpdates: 0; task: Task }

export interface SenderHost {
  state(): EditorState
  /** False when it could not be sent now. */
  send(message: ClientMessage): boolean
  /** An op waits too long for its answer. */
  suspectLink(): void
}

const QUIET_MS = 300
const LONGEST_WAIT_MS = 2_000
const ANSWER_LIMIT_MS = 10_000
const RETRY_MS = 60
const UPDATES_PER_FRAME = 500

export class Sender {
  underWay: OpUnderWay | null = null
  readonly tasks: Task[] = []
  private readonly repeated = new Set<string>()
  private isReady = false
  private areEditsDue = false
  private quietTimer: number | undefined
  private longestTimer: number | undefined
  private answerTimer: number | undefined

  constructor(private readonly host: SenderHost) {}

  /** A welcome has been dealt with: whatever is still under way was not committed. */
  ready(): void {
    this.isReady = true
    const again = this.underWay
    this.underWay = null
    if (again?.kind === "task") {
      // A second refine would start a second run; the welcome tells of the first, if it began.
      // Others go once more: one that was carried out before gets no answer.
      const isRepeatable = again.task.kind !== "refine" && !this.repeated.has(again.opId)
      if (isRepeatable) this.tasks.unshift(again.task)
      this.repeated.add(again.opId)
    } else if (again !== null) {
      this.dispatch(again)
    }
    this.areEditsDue = true
    this.pump()
  }

  notReady(): void {
    this.isReady = false
    window.clearTimeout(this.answerTimer)
  }

  /** Span ops that wait or are under way. */
  get numSpanOps(): number {
    const isUnderWay = this.underWay?.kind === "task" && this.underWay.task.kind === "spans"
    return this.tasks.filter((task) => task.kind === "spans").length + (isUnderWay ? 1 : 0)
  }

  noteEdit(): void {
    window.clearTimeout(this.quietTimer)
    this.quietTimer = window.setTimeout(this.makeDue, QUIET_MS)
    this.longestTimer ??= window.setTimeout(this.makeDue, LONGEST_WAIT_MS)
  }

  enqueue(task: Task): void {
    if (task.kind === "spans") this.takeBack(task)
    if (task.kind !== "spans" || task.add.length > 0 || task.remove.length > 0) this.tasks.push(task)
    this.pump()
  }

  /** The spans an op was about, apart from those that a waiting op adds or removes once more. */
  answeredSpanIds(op: OpUnderWay | null): string[] {
    if (op?.kind !== "task" || op.task.kind !== "spans") return []
    const waiting = this.tasks.flatMap((task) => (task.kind === "spans" ? [...task.add, ...task.remove] : []))
    return [...op.task.add, ...op.task.remove].filter((id) => !waiting.includes(id))
  }

  /** A span that is removed before its adding was sent needs neither; one replaced again, one op. */
  private takeBack(task: SpansTask): void {
    for (const waiting of this.tasks) {
      if (waiting.kind !== "spans") continue
      // Its adding will say what holds when it is sent.
      const again = task.add.filter((id) => task.remove.includes(id) && waiting.add.includes(id))
      task.add = task.add.filter((id) => !again.includes(id))
      task.remove = task.remove.filter((id) => !again.includes(id))
      for (const id of task.remove.filter((one) => waiting.add.includes(one))) {
        waiting.add = waiting.add.filter((one) => one !== id)
        task.remove = task.remove.filter((one) => one !== id)
      }
    }
    const isEmpty = (one: Task): boolean => one.kind === "spans" && one.add.length + one.remove.length === 0
    this.tasks.splice(0, this.tasks.length, ...this.tasks.filter((one) => !isEmpty(one)))
  }

  flush(): void {
    this.makeDue()
  }

  /** The op of this id was answered, well or badly. Returns it. */
  settle(opId: string | null): OpUnderWay | null {
    const op = this.underWay
    if (op === null || op.opId !== opId) return null
    this.underWay = null
    window.clearTimeout(this.answerTimer)
    return op
  }

  /** The op was made for an older text: it goes again once the missing edits have arrived. */
  retry(op: OpUnderWay): void {
    if (op.kind === "task") this.tasks.unshift(op.task)
    this.areEditsDue = true
    window.setTimeout(() => this.pump(), RETRY_MS)
  }

  pump(): void {
    if (!this.isReady || this.underWay !== null || this.sendUnlock()) return
    const updates = sendableUpdates(this.host.state())
    const first = updates[0]
    if (first === undefined) {
      this.sendTask()
      return
    }
    const intent = first.origin.annotation(acceptIntent)
    if (intent !== undefined) {
      this.dispatch({ kind: "accept", opId: intent.opId, numUpdates: 1, intent })
    } else if (this.areEditsDue || this.tasks.length > 0) {
      const origin = originOf(first.origin)
      const isOther = (one: Transaction): boolean => one.annotation(acceptIntent) !== undefined || originOf(one) !== origin
      const end = updates.findIndex((update) => isOther(update.origin))
      const numUpdates = Math.min(end === -1 ? updates.length : end, UPDATES_PER_FRAME)
      this.dispatch({ kind: "edit", opId: randomId(), numUpdates, origin })
    }
  }

  /** Take up an op that a closed tab had begun. */
  adopt(opId: string, numUpdates: number): void {
    this.underWay = { kind: "edit", opId, numUpdates, origin: "typed" }
  }

  stop(): void {
    window.clearTimeout(this.quietTimer)
    window.clearTimeout(this.longestTimer)
    window.clearTimeout(this.answerTimer)
    this.isReady = false
  }

  /** Removing spans needs no positions and goes first: what is edited next may have been locked. */
  private sendUnlock(): boolean {
    const index = this.tasks.findIndex((task) => task.kind === "spans" && task.add.length === 0)
    const [task] = index === -1 ? [] : this.tasks.splice(index, 1)
    if (task !== undefined) this.dispatch({ kind: "task", opId: task.opId, numUpdates: 0, task })
    return task !== undefined
  }

  private sendTask(): void {
    this.areEditsDue = false
    const state = this.host.state()
    for (let task = this.tasks.shift(); task !== undefined; task = this.tasks.shift()) {
      if (isVoid(task, state)) continue
      this.dispatch({ kind: "task", opId: task.opId, numUpdates: 0, task })
      return
    }
  }

  private readonly makeDue = (): void => {
    window.clearTimeout(this.quietTimer)
    window.clearTimeout(this.longestTimer)
    this.longestTimer = undefined
    this.areEditsDue = true
    this.pump()
  }

  private dispatch(op: OpUnderWay): void {
    this.underWay = op
    const state = this.host.state()
    if (op.kind === "edit" && sendableUpdates(state).length <= op.numUpdates) this.areEditsDue = false
    if (!this.host.send(messageOf(op, state))) return
    window.clearTimeout(this.answerTimer)
    this.answerTimer = window.setTimeout(() => this.host.suspectLink(), ANSWER_LIMIT_MS)
  }
}

function messageOf(op: OpUnderWay, state: EditorState): ClientMessage {
  const { opId } = op
  switch (op.kind) {
    case "edit":
      return {
        type: "edit",
        op_id: opId,
        version: getSyncedVersion(state),
        updates: sendableUpdates(state)
          .slice(0, op.numUpdates)
          .map((update) => ({ clientID: getClientID(state), changes: update.changes.toJSON() as unknown[] })),
        origin: op.origin,
      }
    case "accept":
      return {
        type: "accept",
        op_id: opId,
        suggestion_ids: op.intent.suggestionIds,
        alternatives: op.intent.alternatives,
        texts: op.intent.texts,
      }
    case "task":
      return messageOfTask(op.task, state)
  }
}

function messageOfTask(task: Task, state: EditorState): ClientMessage {
  const version = getSyncedVersion(state)
  switch (task.kind) {
    case "spans":
      return { type: "spans", op_id: task.opId, version, add: newSpans(task.add, state), remove: task.remove }
    case "refine":
      return { type: "refine", op_id: task.opId, version, regions: task.regions, settings: task.settings }
    case "reject":
      return { type: "reject", op_id: task.opId, suggestion_ids: task.suggestionIds }
    case "restore":
      return { type: "restore", op_id: task.opId, revision: task.revision }
    case "name":
      return { type: "name_version", op_id: task.opId, name: task.name }
  }
}

/** Tasks go out only when no edit waits, so that current positions are those of the version. */
function newSpans(ids: readonly string[], state: EditorState): NewSpan[] {
  return ids.flatMap((id) => {
    const span = spanById(state, id)
    if (span === undefined) return []
    return [{ id, kind: span.kind, from: span.from, to: span.to, settings: { ...span.settings } }]
  })
}

function isVoid(task: Task, state: EditorState): boolean {
  return task.kind === "spans" && task.remove.length === 0 && newSpans(task.add, state).length === 0
}
