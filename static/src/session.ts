/**
 * One open document: the editor's text, the server's word, and what lies between.
 *
 * Owns the order in which frames change the editor, what counts as acknowledged, and what happens
 * to text the server will not take (a copy is kept, always). Must not build any interface: it
 * emits facts, panels draw them. All frames go through `receive`, in order.
 */

import { receiveUpdates, sendableUpdates, getSyncedVersion } from "@codemirror/collab"
import { isolateHistory } from "@codemirror/commands"
import { ChangeSet, type EditorState, type Text, Transaction } from "@codemirror/state"
import type { EditorView, ViewUpdate } from "@codemirror/view"
import { blanksIn } from "./blanks"
import { Connection, type LinkState } from "./connection"
import { assertNever } from "./dom"
import { draftOf, dropDrafts, setBusyRegions, showDrafts } from "./drafts"
import { Emitter } from "./emitter"
import { announceLife, type Orphan, Outbox, type OutboxRecord, randomId } from "./outbox"
import { prefersCalm, updateRate } from "./preferences"
import type {
  Edited,
  Hello,
  PassFrame,
  Problem,
  RefineSettings,
  RevisionWire,
  RunEnded,
  RunRefused,
  ServerMessage,
  SuggestionDecided,
  SuggestionWire,
  UpdateWire,
  Welcome,
} from "./protocol.gen"
import { chosenText, type OpenSuggestion, openSuggestions, placeOf, receiveSuggestions } from "./review"
import { RunModel, type RunRecord } from "./run_model"
import { describeSave, type SaveState } from "./save_state"
import { acceptIntent, type OpUnderWay, Sender } from "./sender"
import { addSpan, receiveSpans, removeSpan, settleSpans, type Span, spansOf } from "./spans"

export type SessionFact =
  | { kind: "changed" }
  | { kind: "opened" }
  | { kind: "run_began"; run: RunRecord }
  | { kind: "pass"; run: RunRecord }
  | { kind: "run_over"; run: RunRecord; frame: RunEnded }
  | { kind: "trouble"; code: string; message: string }
  | { kind: "note"; message: string }
  | { kind: "link"; link: LinkState }
  | { kind: "unsent"; text: string; message: string }

export interface SessionHost {
  readonly documentId: string
  /** Builds a state with this text at this version, as this client. */
  makeState(text: string, version: number, clientId: string): EditorState
  readonly view: EditorView
  /** Keeps a copy of text as a document of its own; resolves to its id. */
  keepCopy(title: string, text: string): Promise<string>
}

export class DocumentSession {
  readonly facts = new Emitter<SessionFact>()
  readonly runs = new RunModel()
  readonly suggestions = new Map<string, SuggestionWire>()
  revisions: RevisionWire[] = []
  title = ""
  worker: Welcome["worker"] = "ready"
  conflictCopy: string | null = null
  isViewPaused = false

  private clientId = randomId()
  private endLife: () => void = () => undefined
  private readonly outbox = new Outbox()
  private readonly sender: Sender
  private connection: Connection | null = null
  private link: LinkState = "connecting"
  private base: Text | null = null
  private keptVersion = -1
  private isKept = true
  private seq = 0
  private epoch = ""
  private isOpen = false
  /** The server refused something of ours: its text is taken anew with the next welcome. */
  private mustReset = false
  private copiedText: string | null = null
  private readonly held: ServerMessage[] = []
  private drawnAt = 0
  private checkTimer: number | undefined

  constructor(private readonly host: SessionHost) {
    this.sender = new Sender({
      state: () => host.view.state,
      send: (message) => this.connection?.send(message) ?? false,
      suspectLink: () => this.connection?.restart(),
    })
  }

  async start(): Promise<void> {
    const orphans = await this.outbox.orphans(this.host.documentId).catch(() => [])
    const [first, ...others] = orphans
    if (first !== undefined) this.adopt(first)
    this.endLife = announceLife(this.clientId)
    for (const other of others) await this.copyOrphan(other)
    const path = `/ws/documents/${encodeURIComponent(this.host.documentId)}`
    const scheme = location.protocol === "https:" ? "wss" : "ws"
    this.connection = new Connection(
      () => `${scheme}://${location.host}${path}?since=${this.seq}&epoch=${encodeURIComponent(this.epoch)}`,
      `/api/documents/${encodeURIComponent(this.host.documentId)}`,
      {
        greet: () => this.greet(),
        receive: (message) => this.receive(message),
        changeLink: (link) => this.changeLink(link),
      },
    )
  }

  close(): void {
    this.sender.flush()
    this.sender.stop()
    this.connection?.close()
    window.clearTimeout(this.checkTimer)
    this.endLife()
  }

  // ---- what the interface asks

  get isReady(): boolean {
    return this.isOpen
  }

  get saveState(): SaveState {
    return describeSave({
      link: this.link,
      unacknowledged: this.numUnacknowledged(),
      version: this.isOpen ? getSyncedVersion(this.host.view.state) : null,
      hasConflictCopy: this.conflictCopy !== null,
      isKeptOnDevice: this.isKept,
    })
  }

  get version(): number {
    return getSyncedVersion(this.host.view.state)
  }

  numUnacknowledged(): number {
    if (this.base === null) return 0
    const numSpanTasks = this.sender.tasks.filter((task) => task.kind === "spans").length
    return sendableUpdates(this.host.view.state).length + numSpanTasks
  }

  flush(): void {
    this.sender.flush()
  }

  refine(regions: string[] | "all", settings: RefineSettings): void {
    this.sender.enqueue({ kind: "refine", opId: randomId(), regions, settings })
  }

  stop(): void {
    for (const run of this.runs.active()) {
      run.isStopping = true
      this.connection?.send({ type: "cancel", run_id: run.runId })
    }
    this.facts.emit({ kind: "changed" })
  }

  restore(revision: number): void {
    this.sender.enqueue({ kind: "restore", opId: randomId(), revision })
  }

  reject(ids: readonly string[]): void {
    if (ids.length === 0) return
    this.sender.enqueue({ kind: "reject", opId: randomId(), suggestionIds: [...ids] })
    this.showSuggestions(ids)
  }

  /** Puts suggestions into the text: one edit, one undo step. Returns those without a place. */
  accept(ids: readonly string[]): OpenSuggestion[] {
    const { view } = this.host
    const wanted = openSuggestions(view.state).filter((suggestion) => ids.includes(suggestion.wire.id))
    const placed = wanted.flatMap((suggestion) => {
      const span = placeOf(view.state, suggestion)
      return span === null ? [] : [{ suggestion, span }]
    })
    if (placed.length > 0) {
      const suggestionIds = placed.map(({ suggestion }) => suggestion.wire.id)
      const alternatives = Object.fromEntries(
        placed.map(({ suggestion }) => [suggestion.wire.id, suggestion.chosen]),
      )
      this.sender.flush()
      view.dispatch({
        changes: placed.map(({ suggestion, span }) => ({
          from: span.from,
          to: span.to,
          insert: view.state.toText(chosenText(suggestion)),
        })),
        annotations: [acceptIntent.of({ opId: randomId(), suggestionIds, alternatives }), isolateHistory.of("full")],
        userEvent: "input.accept",
        filter: false,
      })
      this.showSuggestions(suggestionIds)
    }
    return wanted.filter((suggestion) => !placed.some((one) => one.suggestion === suggestion))
  }

  /** Called for every change of the editor. */
  noteUpdate(update: ViewUpdate): void {
    if (this.base === null) return
    const isRemote = update.transactions.every((one) => one.annotation(Transaction.remote) === true)
    for (const transaction of update.transactions) this.noteSpanEffects(transaction)
    if (!update.docChanged || isRemote) return
    this.keep()
    this.sender.noteEdit()
    this.sender.pump()
    const blanks = blanksIn(update.state, update.changes)
    if (blanks.length > 0) {
      queueMicrotask(() => this.host.view.dispatch({ effects: blanks.map((span) => addSpan.of(span)) }))
    }
    this.facts.emit({ kind: "changed" })
  }

  /** Ends the wait of frames that came while an input method was composing. */
  noteCompositionEnd(): void {
    const held = this.held.splice(0)
    for (const message of held) this.apply(message)
  }

  setPaused(isPaused: boolean): void {
    this.isViewPaused = isPaused
    if (!isPaused) for (const run of this.runs.active()) this.drawLatest(run)
    this.facts.emit({ kind: "changed" })
  }

  drawLatest(run: RunRecord): void {
    const frame = run.passes.at(-1)
    if (frame === undefined) return
    const drafts = frame.regions.map((region) => draftOf(region, run.stable.get(region.span_id) ?? ""))
    this.host.view.dispatch({ effects: showDrafts.of(drafts) })
  }

  // ---- the socket

  private greet(): Hello {
    const version = this.base === null || this.mustReset ? null : getSyncedVersion(this.host.view.state)
    return { type: "hello", client_id: this.clientId, version }
  }

  private changeLink(link: LinkState): void {
    if (link === this.link) return
    this.link = link
    if (link !== "open") this.sender.notReady()
    this.facts.emit({ kind: "link", link })
  }

  private receive(message: ServerMessage): void {
    if ("seq" in message && message.type !== "pong") this.seq = Math.max(this.seq, message.seq)
    // A remote change under an input method's composition would break it.
    const mustWait = this.host.view.compositionStarted && (message.type === "edited" || message.type === "pass_frame")
    if (mustWait || this.held.length > 0) this.held.push(message)
    else this.apply(message)
  }

  private apply(message: ServerMessage): void {
    switch (message.type) {
      case "welcome":
        return this.welcome(message)
      case "edited":
        return this.edited(message)
      case "spans_changed": {
        const op = this.settle(message.op_id)
        const ids = op?.kind === "task" && op.task.kind === "spans" ? [...op.task.add, ...op.task.remove] : []
        this.showSpans(message.spans, ids)
        break
      }
      case "revision_added":
        this.revisions = [...this.revisions.filter((one) => one.n !== message.revision.n), message.revision]
        break
      case "run_accepted": {
        this.settle(message.op_id)
        const run = this.runs.begin(message.run)
        this.showBusy()
        this.facts.emit({ kind: "run_began", run })
        break
      }
      case "run_refused":
      case "problem":
        return this.refused(message)
      case "pass_frame":
        return this.pass(message)
      case "stable_prefix":
        this.runs.find(message.run_id)?.stable.set(message.span_id, message.text)
        break
      case "suggestion_added":
        this.suggestions.set(message.suggestion.id, message.suggestion)
        this.host.view.dispatch({ effects: dropDrafts.of([message.suggestion.span_id]) })
        this.showSuggestions()
        break
      case "suggestion_decided":
        return this.decided(message)
      case "run_ended":
        return this.runEnded(message)
      case "renamed":
        this.title = message.title
        break
      case "worker_state":
        this.worker = message.state
        break
      case "pong":
        return
      default:
        assertNever(message)
    }
    this.sender.pump()
    this.facts.emit({ kind: "changed" })
  }

  private welcome(message: Welcome): void {
    this.seq = message.seq
    this.epoch = message.epoch
    this.title = message.title
    this.worker = message.worker
    this.revisions = message.revisions
    if (message.text === null && this.base !== null) this.receiveUpdates(message.updates)
    else if (!this.takeSnapshot(message)) return
    this.suggestions.clear()
    for (const suggestion of message.suggestions) this.suggestions.set(suggestion.id, suggestion)
    this.runs.keepOnly(message.runs)
    this.link = "open"
    this.showSpans(message.spans, [])
    this.showBusy()
    this.showSuggestions()
    const isFirst = !this.isOpen
    this.isOpen = true
    this.sender.ready()
    this.keep()
    this.facts.emit({ kind: "link", link: "open" })
    this.facts.emit({ kind: isFirst ? "opened" : "changed" })
  }

  /** Starts again from the server's text; unsent text that cannot follow becomes a copy. */
  private takeSnapshot(message: Welcome): boolean {
    const text = message.text
    if (text === null) {
      this.connection?.restart()
      return false
    }
    const { view } = this.host
    const unsent = this.base === null ? [] : sendableUpdates(view.state)
    const isTyped = unsent.some((update) => update.origin.annotation(acceptIntent) === undefined)
    const mine = view.state.doc.toString()
    if (isTyped && mine !== text && mine !== this.copiedText) void this.keepConflictCopy()
    this.mustReset = false
    this.reset(text, message.version)
    return true
  }

  private reset(text: string, version: number): void {
    this.sender.settle(this.sender.underWay?.opId ?? null)
    const state = this.host.makeState(text, version, this.clientId)
    this.base = null
    this.host.view.setState(state)
    this.base = state.doc
    this.keptVersion = -1
    void this.outbox.forget(this.clientId).catch(() => undefined)
  }

  private edited(frame: Edited): void {
    const synced = getSyncedVersion(this.host.view.state)
    const since = frame.version - frame.updates.length
    if (since > synced) {
      this.connection?.restart() // frames are missing: only a fresh welcome can close the gap
      return
    }
    const missing = frame.updates.slice(synced - since)
    if (missing.length > 0) this.receiveUpdates(missing)
    if (frame.op_id !== null) this.settle(frame.op_id)
    this.checkLater(frame)
    this.keep()
    this.sender.pump()
    this.facts.emit({ kind: "changed" })
  }

  private receiveUpdates(wires: readonly UpdateWire[]): void {
    if (wires.length === 0) return
    const updates = wires.map((wire) => ({ clientID: wire.clientID, changes: ChangeSet.fromJSON(wire.changes) }))
    for (const update of updates) this.base = update.changes.apply(this.base ?? this.host.view.state.doc)
    const { view } = this.host
    const before = sendableUpdates(view.state).length
    view.dispatch(receiveUpdates(view.state, updates))
    const numConfirmed = before - sendableUpdates(view.state).length
    const op = this.sender.underWay
    if (op !== null && op.numUpdates > 0 && numConfirmed >= op.numUpdates) this.sender.settle(op.opId)
  }

  private settle(opId: string | null): OpUnderWay | null {
    return opId === null ? null : this.sender.settle(opId)
  }

  private refused(frame: Problem | RunRefused): void {
    const op = this.settle(frame.op_id)
    if (op !== null && frame.code === "stale_version") {
      this.sender.retry(op)
      return
    }
    if (op?.kind === "edit") void this.keepConflictCopy().then(() => this.startOver())
    else if (op?.kind === "accept") this.startOver()
    else if (op?.kind === "task" && op.task.kind === "spans") {
      // The server's set is still right; ours was not taken.
      this.host.view.dispatch({ effects: settleSpans.of([...op.task.add, ...op.task.remove]) })
      this.startOver()
    } else if (op?.kind === "task" && op.task.kind === "reject") this.showSuggestions()
    this.facts.emit({ kind: "trouble", code: frame.code, message: frame.message })
    this.sender.pump()
  }

  /** Forgets what the server refused and takes its text anew. */
  private startOver(): void {
    this.mustReset = true
    this.sender.notReady()
    this.connection?.restart()
  }

  private async keepConflictCopy(): Promise<void> {
    const text = this.host.view.state.doc.toString()
    this.copiedText = text
    try {
      this.conflictCopy = await this.host.keepCopy(`${this.title || "Untitled"} (your copy)`, text)
    } catch {
      this.facts.emit({ kind: "unsent", text, message: "Your last changes could not be saved. Copy them now." })
    }
    this.facts.emit({ kind: "changed" })
  }

  // ---- runs

  private pass(frame: PassFrame): void {
    const run = this.runs.addPass(frame)
    if (run === null) return
    if (!this.isViewPaused && this.isDrawDue()) this.drawLatest(run)
    this.facts.emit({ kind: "pass", run })
  }

  private isDrawDue(): boolean {
    const rate = updateRate()
    const gapMs = rate === "slow" || prefersCalm() ? 1_000 : 0
    if (rate === "done" || Date.now() - this.drawnAt < gapMs) return false
    this.drawnAt = Date.now()
    return true
  }

  private runEnded(frame: RunEnded): void {
    const run = this.runs.end(frame)
    this.showBusy()
    if (run === null) return
    this.host.view.dispatch({ effects: dropDrafts.of(run.spanIds) })
    this.facts.emit({ kind: "run_over", run, frame })
    this.facts.emit({ kind: "changed" })
  }

  private decided(frame: SuggestionDecided): void {
    this.settle(frame.op_id)
    const known = this.suggestions.get(frame.suggestion_id)
    if (known !== undefined) this.suggestions.set(frame.suggestion_id, { ...known, state: frame.state })
    this.showSuggestions()
    if (frame.state === "void" && frame.reason !== null) this.facts.emit({ kind: "note", message: frame.reason })
    this.sender.pump()
    this.facts.emit({ kind: "changed" })
  }

  private showSuggestions(except: readonly string[] = []): void {
    const open = [...this.suggestions.values()].filter((one) => one.state === "open" && !except.includes(one.id))
    this.host.view.dispatch({ effects: receiveSuggestions.of(open) })
    this.facts.emit({ kind: "changed" })
  }

  private showBusy(): void {
    this.host.view.dispatch({ effects: setBusyRegions.of(this.runs.busySpans()) })
  }

  // ---- spans

  private showSpans(wires: Welcome["spans"], settledIds: readonly string[]): void {
    const { view } = this.host
    // The server's positions are those of its text; unsent edits have moved on from it.
    const unsent = sendableUpdates(view.state).map((update) => update.changes)
    const length = this.base?.length ?? view.state.doc.length
    const changes = unsent.reduce((all, one) => all.compose(one), ChangeSet.empty(length))
    const fits = wires.filter((span) => span.to <= length)
    const mapped = fits.map((span): Span => ({
      ...span,
      from: changes.mapPos(span.from, 1),
      to: changes.mapPos(span.to, span.kind === "field" ? 1 : -1),
    }))
    view.dispatch({
      effects: [settleSpans.of(settledIds), receiveSpans.of(mapped.filter((span) => span.from < span.to))],
      annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
    })
  }

  private noteSpanEffects(transaction: Transaction): void {
    const add: string[] = []
    const remove: string[] = []
    for (const effect of transaction.effects) {
      if (effect.is(addSpan)) add.push(effect.value.id)
      else if (effect.is(removeSpan)) remove.push(effect.value)
    }
    if (add.length === 0 && remove.length === 0) return
    const before = transaction.startState
    // An id that exists already is replaced: removed and added in one op.
    const replaced = add.filter((id) => hasSpan(before, id))
    const opId = randomId()
    queueMicrotask(() => this.sender.enqueue({ kind: "spans", opId, add, remove: [...remove, ...replaced] }))
  }

  // ---- the device's store

  private keep(): void {
    const { view } = this.host
    const updates = sendableUpdates(view.state)
    if (updates.length === 0) {
      if (this.keptVersion !== -1) void this.outbox.forget(this.clientId).catch(() => undefined)
      this.keptVersion = -1
      return
    }
    const version = getSyncedVersion(view.state)
    const op = this.sender.underWay
    const record: OutboxRecord = {
      clientId: this.clientId,
      documentId: this.host.documentId,
      version,
      changes: updates.map((update) => update.changes.toJSON() as unknown),
      opId: op?.kind === "edit" ? op.opId : null,
      opLength: op?.kind === "edit" ? op.numUpdates : 0,
      savedAt: Date.now(),
    }
    const isNewBase = version !== this.keptVersion
    const base = isNewBase ? { clientId: this.clientId, version, text: this.base?.toString() ?? "" } : null
    this.keptVersion = version
    this.outbox.keep(record, base).then(
      () => (this.isKept = true),
      () => {
        this.isKept = false
        this.facts.emit({ kind: "changed" })
      },
    )
  }

  private adopt(orphan: Orphan): void {
    const { record, base } = orphan
    this.clientId = record.clientId
    const state = this.host.makeState(base.text, base.version, record.clientId)
    const { view } = this.host
    view.setState(state)
    for (const changes of record.changes) {
      view.dispatch({ changes: ChangeSet.fromJSON(changes), userEvent: "input", filter: false })
    }
    if (record.opId !== null) this.sender.adopt(record.opId, record.opLength)
    this.base = state.doc
    this.keptVersion = record.version
    this.facts.emit({ kind: "note", message: "Text kept on this device was brought back." })
  }

  private async copyOrphan({ record, base }: Orphan): Promise<void> {
    const composed = record.changes
      .map((changes) => ChangeSet.fromJSON(changes))
      .reduce((text, changes) => changes.apply(text), this.host.view.state.toText(base.text))
    try {
      this.conflictCopy = await this.host.keepCopy("Recovered text", composed.toString())
      await this.outbox.forget(record.clientId)
    } catch {
      // Stays on the device until a copy can be made.
    }
  }

  /** The text's hash, compared once typing rests: what is shown must be what is stored. */
  private checkLater(frame: Edited): void {
    window.clearTimeout(this.checkTimer)
    this.checkTimer = window.setTimeout(() => void this.check(frame.version, frame.hash), 800)
  }

  private async check(version: number, hash: string): Promise<void> {
    if (crypto.subtle === undefined || this.base === null) return
    if (getSyncedVersion(this.host.view.state) !== version) return
    const bytes = new TextEncoder().encode(this.base.toString())
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")
    if (hex === hash || getSyncedVersion(this.host.view.state) !== version) return
    this.facts.emit({ kind: "trouble", code: "hash_mismatch", message: "The text was loaded again: it differed from the server's." })
    this.startOver()
  }
}

function hasSpan(state: EditorState, id: string): boolean {
  return spansOf(state).some((span) => span.id === id)
}
