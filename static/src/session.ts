/**
 * One open document: the editor's text, the server's word, and what lies between.
 *
 * Owns the order in which frames change the editor, what counts as acknowledged, and what happens
 * to text the server will not take (a copy is kept, always). Must not build any interface: it
 * emits facts, panels draw them. All frames go through `receive`, in order.
 */

import { receiveUpdates, sendableUpdates, getSyncedVersion } from "@codemirror/collab"
import { ChangeSet, type EditorState, Transaction } from "@codemirror/state"
import type { EditorView, ViewUpdate } from "@codemirror/view"
import { acceptSuggestions } from "./accepting"
import { blanksIn } from "./blanks"
import { Connection, type LinkState } from "./connection"
import { assertNever } from "./dom"
import { Emitter } from "./emitter"
import { Copies } from "./copies"
import { FrameGate } from "./frame_gate"
import { Keeper } from "./keeper"
import { type Orphan, randomId } from "./outbox"
import type {
  Edited,
  Hello,
  Problem,
  RefineSettings,
  RegionDropped,
  RevisionWire,
  RunAccepted,
  RunEnded,
  RunRefused,
  ServerMessage,
  SuggestionDecided,
  SuggestionWire,
  UpdateWire,
  Welcome,
} from "./protocol.gen"
import { type OpenSuggestion, reviewField } from "./review"
import { isActive, type RunModel, type RunRecord } from "./run_model"
import { placesOf } from "./run_places"
import { RunView } from "./run_view"
import { describeSave, type SaveState } from "./save_state"
import { acceptIntent, type OpUnderWay, Sender } from "./sender"
import type { SessionFact } from "./session_facts"
import { placeServerSpans, spanOpOf } from "./span_sync"
import { addSpan, receiveSpans, settleSpans } from "./spans"
import { SuggestionBook } from "./suggestion_book"
import { TextCheck } from "./text_check"

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
  readonly runView: RunView
  readonly copies: Copies
  private readonly suggestions: SuggestionBook
  revisions: RevisionWire[] = []
  title = ""
  worker: Welcome["worker"] = "ready"

  private readonly keeper: Keeper
  private readonly sender: Sender
  private connection: Connection | null = null
  private link: LinkState = "connecting"
  private seq = 0
  private epoch = ""
  private isOpen = false
  /** The server refused something of ours: its text is taken anew with the next welcome. */
  private mustReset = false
  private readonly gate: FrameGate
  private readonly textCheck: TextCheck

  constructor(private readonly host: SessionHost) {
    this.runView = new RunView(host.view)
    this.suggestions = new SuggestionBook(host.view)
    this.copies = new Copies({
      keepCopy: (title, text) => host.keepCopy(title, text),
      showUnsent: (text) =>
        this.facts.emit({ kind: "unsent", text, message: "Your last changes could not be saved. Copy them now." }),
    })
    this.gate = new FrameGate(() => host.view.compositionStarted, (message) => this.apply(message))
    this.textCheck = new TextCheck({
      known: () => (this.keeper.base === null ? null : { text: this.keeper.base.toString(), version: this.version }),
      differ: () => this.noteDifference(),
    })
    this.keeper = new Keeper(host.documentId, () => this.facts.emit({ kind: "changed" }))
    this.sender = new Sender({
      state: () => host.view.state,
      send: (message) => this.connection?.send(message) ?? false,
      suspectLink: () => this.connection?.restart(),
    })
  }

  async start(): Promise<void> {
    const [first, ...others] = await this.keeper.orphans()
    if (first !== undefined) this.adopt(first)
    this.keeper.beginLife()
    for (const other of others) await this.copies.recover(other, this.keeper, (plain) => this.host.view.state.toText(plain))
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
    this.textCheck.stop()
    this.gate.close()
    this.keeper.end()
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
      hasConflictCopy: this.copies.newest !== null,
      isKeptOnDevice: this.keeper.isKept,
    })
  }

  get version(): number {
    return getSyncedVersion(this.host.view.state)
  }

  numUnacknowledged(): number {
    if (this.keeper.base === null) return 0
    return sendableUpdates(this.host.view.state).length + this.sender.numSpanOps
  }

  flush(): void {
    this.sender.flush()
  }

  refine(regions: string[] | "all", settings: RefineSettings): void {
    this.sender.enqueue({ kind: "refine", opId: randomId(), regions, settings })
  }

  /** Runs the same regions left to right, for comparison only: its suggestions are turned down. */
  runBaseline(regions: string[], settings: RefineSettings): void {
    const own = { ...settings, route: "autoregressive" as const, alternatives: 1 }
    this.sender.enqueue({ kind: "refine", opId: randomId(), regions, settings: own, isBaseline: true })
  }

  stopBaseline(): void {
    const run = this.runs.baseline()
    if (run !== null && isActive(run)) this.connection?.send({ type: "cancel", run_id: run.runId })
  }

  stop(runs: readonly RunRecord[] = this.runs.active()): void {
    for (const run of runs) {
      run.isStopping = true
      this.connection?.send({ type: "cancel", run_id: run.runId })
    }
    this.facts.emit({ kind: "changed" })
  }

  restore(revision: number): void {
    this.sender.enqueue({ kind: "restore", opId: randomId(), revision })
  }

  /** Writes a version of the text as it stands, under a name. */
  nameVersion(name: string): void {
    this.sender.enqueue({ kind: "name", opId: randomId(), name })
  }

  reject(ids: readonly string[]): void {
    const { open } = this.host.view.state.field(reviewField)
    const suggestionIds = open.filter(({ wire }) => ids.includes(wire.id)).flatMap((one) => one.ids)
    if (suggestionIds.length === 0) return
    this.sender.enqueue({ kind: "reject", opId: randomId(), suggestionIds })
    this.suggestions.hide(suggestionIds)
    this.facts.emit({ kind: "changed" })
  }

  /** Puts suggestions into the text: one edit, one undo step. Returns those without a place. */
  accept(ids: readonly string[]): readonly OpenSuggestion[] {
    const { transaction, decidedIds, left } = acceptSuggestions(this.host.view.state, ids)
    if (transaction !== null) {
      this.sender.flush()
      this.host.view.dispatch(transaction)
      this.suggestions.hide(decidedIds)
      this.facts.emit({ kind: "changed" })
    }
    return left
  }

  /** Called for every change of the editor. */
  noteUpdate(update: ViewUpdate): void {
    if (this.keeper.base === null) return
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
    this.gate.release()
  }

  get runs(): RunModel {
    return this.runView.runs
  }

  setPaused(isPaused: boolean): void {
    this.runView.pause(isPaused)
    this.facts.emit({ kind: "changed" })
  }

  // ---- the socket

  private greet(): Hello {
    const version = this.keeper.base === null || this.mustReset ? null : getSyncedVersion(this.host.view.state)
    return { type: "hello", client_id: this.keeper.clientId, version }
  }

  private changeLink(link: LinkState): void {
    if (link === this.link) return
    this.link = link
    if (link !== "open") this.sender.notReady()
    this.facts.emit({ kind: "link", link })
  }

  private receive(message: ServerMessage): void {
    if ("seq" in message && message.type !== "pong") this.seq = Math.max(this.seq, message.seq)
    this.gate.receive(message)
  }

  private apply(message: ServerMessage): void {
    switch (message.type) {
      case "welcome":
        return this.welcome(message)
      case "edited":
        return this.edited(message)
      case "spans_changed":
        this.showSpans(message.spans, this.sender.answeredSpanIds(this.settle(message.op_id)))
        break
      case "revision_added":
        this.noteNamed(this.settle(message.op_id))
        this.revisions = [...this.revisions.filter((one) => one.n !== message.revision.n), message.revision]
        break
      case "run_accepted":
        this.runAccepted(message)
        break
      case "run_refused":
      case "problem":
        return this.refused(message)
      case "pass_frame": {
        const run = this.runView.pass(message)
        if (run !== null) this.facts.emit({ kind: run.isBaseline ? "baseline" : "pass", run })
        return
      }
      case "region_dropped":
        return this.regionDropped(message)
      case "stable_prefix":
        this.runs.find(message.run_id)?.stable.set(message.span_id, message.text)
        break
      case "suggestion_added":
        if (this.runs.noteResult(message.suggestion)?.isBaseline) this.turnDown(message.suggestion)
        else this.runView.drop([message.suggestion.span_id])
        this.suggestions.add(message.suggestion)
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
    if (message.text === null && this.keeper.base !== null) this.receiveUpdates(message.updates)
    else if (!this.takeSnapshot(message)) return
    this.runs.keepOnly(message.runs)
    this.link = "open"
    this.showSpans(message.spans, [])
    this.runView.showBusy()
    this.suggestions.begin(message.suggestions)
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
    const unsent = this.keeper.base === null ? [] : sendableUpdates(view.state)
    const isTyped = unsent.some((update) => update.origin.annotation(acceptIntent) === undefined)
    const mine = view.state.doc.toString()
    if (isTyped && mine !== text && !this.copies.isCopied(mine)) void this.keepConflictCopy()
    this.mustReset = false
    this.reset(text, message.version)
    return true
  }

  private reset(text: string, version: number): void {
    this.sender.settle(this.sender.underWay?.opId ?? null)
    const state = this.host.makeState(text, version, this.keeper.clientId)
    this.host.view.setState(state)
    this.keeper.begin(state.doc)
  }

  private adopt(orphan: Orphan): void {
    const { clientId, opId, opLength } = orphan.record
    this.keeper.adopt(orphan, this.host.view, (text, version) => this.host.makeState(text, version, clientId))
    if (opId !== null) this.sender.adopt(opId, opLength)
    this.facts.emit({ kind: "note", message: "Text kept on this device was brought back." })
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
    this.textCheck.later(frame.version, frame.hash)
    this.keep()
    this.sender.pump()
    this.facts.emit({ kind: "edited" })
  }

  private receiveUpdates(wires: readonly UpdateWire[]): void {
    if (wires.length === 0) return
    const updates = wires.map((wire) => ({ clientID: wire.clientID, changes: ChangeSet.fromJSON(wire.changes) }))
    for (const update of updates) this.keeper.confirm(update.changes)
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
      // The server's spans hold; a welcome brings them, the text stays.
      this.host.view.dispatch({ effects: settleSpans.of(this.sender.answeredSpanIds(op)) })
      this.sender.notReady()
      this.connection?.restart()
    } else if (op?.kind === "task" && op.task.kind === "reject") {
      this.suggestions.unhide(op.task.suggestionIds)
    }
    this.facts.emit({ kind: "trouble", code: frame.code, message: frame.message })
    this.sender.pump()
  }

  /** Forgets what the server refused and takes its text anew. */
  private startOver(): void {
    this.mustReset = true
    this.epoch = "" // a resume would bring no text
    this.sender.notReady()
    this.connection?.restart()
  }

  private async keepConflictCopy(): Promise<void> {
    await this.copies.keep(this.title, this.host.view.state.doc.toString())
    this.facts.emit({ kind: "changed" })
  }

  // ---- runs

  private runAccepted(message: RunAccepted): void {
    const op = this.settle(message.op_id)
    const isBaseline = op?.kind === "task" && op.task.kind === "refine" && op.task.isBaseline === true
    const run = this.runs.begin(message.run, placesOf(this.host.view.state, message.run.span_ids), isBaseline)
    this.runView.showBusy()
    this.facts.emit({ kind: isBaseline ? "baseline" : "run_began", run })
  }

  private noteNamed(op: OpUnderWay | null): void {
    if (op?.kind !== "task" || op.task.kind !== "name") return
    this.facts.emit({ kind: "note", message: `This version is named ${op.task.name}.` })
  }

  /** Someone edits there: the run goes on for its other regions. */
  private regionDropped({ run_id: runId, span_id: spanId }: RegionDropped): void {
    const run = this.runView.yieldRegion(runId, spanId)
    if (run !== null && !run.isBaseline) this.facts.emit({ kind: "note", message: "The run left the region you are writing in." })
    this.facts.emit({ kind: "changed" })
  }

  private turnDown({ id }: SuggestionWire): void {
    this.suggestions.hide([id])
    this.sender.enqueue({ kind: "reject", opId: randomId(), suggestionIds: [id] })
  }

  private runEnded(frame: RunEnded): void {
    const run = this.runView.end(frame)
    if (run?.isBaseline) this.facts.emit({ kind: "baseline", run })
    else if (run !== null) this.facts.emit({ kind: "run_over", run, frame })
    this.facts.emit({ kind: "changed" })
  }

  private decided(frame: SuggestionDecided): void {
    // An accept is answered by its edit, which follows.
    if (this.sender.underWay?.kind === "task") this.settle(frame.op_id)
    const wasShown = this.suggestions.decide(frame)
    if (wasShown && frame.state === "void" && frame.reason !== null) this.facts.emit({ kind: "note", message: `A suggestion went: ${frame.reason}.` })
    this.sender.pump()
    this.facts.emit({ kind: "changed" })
  }

  // ---- spans

  private showSpans(wires: Welcome["spans"], settledIds: readonly string[]): void {
    const { view } = this.host
    const spans = placeServerSpans(wires, view.state, this.keeper.base?.length ?? view.state.doc.length)
    view.dispatch({
      effects: [settleSpans.of(settledIds), receiveSpans.of(spans)],
      annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
    })
  }

  private noteSpanEffects(transaction: Transaction): void {
    const op = spanOpOf(transaction)
    if (op === null) return
    this.sender.enqueue({ kind: "spans", opId: randomId(), ...op })
  }

  private noteDifference(): void {
    const message = "The text was loaded again: it differed from the server's."
    this.facts.emit({ kind: "trouble", code: "hash_mismatch", message })
    this.startOver()
  }

  private keep(): void {
    this.keeper.keep(this.host.view.state, this.sender.underWay)
  }
}
