/**
 * The application: opens documents, wires sessions to panels, and says what happens.
 *
 * Owns the one editor view and the list of documents; a session owns the document. Panels are
 * redrawn at most once per frame, from facts, and never take the focus.
 */

import { EditorView, type ViewUpdate } from "@codemirror/view"
import { buildCommands, goToSuggestion, refineTargets } from "./commands"
import { confirmDelete, openAbout, showComparison, showUnsent } from "./dialogs"
import { Dock } from "./dock"
import { DocumentsPanel } from "./documents_panel"
import { button } from "./dom"
import { type EditorHost, makeState, makeView } from "./editor"
import { explain } from "./error_texts"
import { HistoryPanel } from "./history_panel"
import { buildLayout } from "./layout"
import { refusalOf } from "./locks"
import type { RevisionWire } from "./protocol.gen"
import { refill } from "./refill"
import * as rest from "./rest"
import { type OpenSuggestion, openSuggestions, placeOf } from "./review"
import { ReviewPanel } from "./review_panel"
import { RunPanel } from "./run_panel"
import { leftWords, narrateRun } from "./narration"
import { sampleDocument } from "./sample"
import { isOwnEdit } from "./sender"
import { DocumentSession } from "./session"
import type { SessionFact } from "./session_facts"
import { addSpan, removeSpan, type Span, spansTouching } from "./spans"
import { buildTabs } from "./tabs"
import { buildToolbar } from "./toolbar"

const PANEL_GAP_MS = 120
const OPENED_WORDS = "Document open."

export class App {
  session: DocumentSession | null = null
  readonly view: EditorView
  private readonly layout = buildLayout()
  private readonly editorHost: EditorHost
  private readonly toolbar: ReturnType<typeof buildToolbar>
  private readonly documentsPanel: DocumentsPanel
  private readonly runPanel: RunPanel
  private readonly reviewPanel: ReviewPanel
  private readonly historyPanel: HistoryPanel
  private readonly dock: Dock
  private readonly tabs: ReturnType<typeof buildTabs>
  private documents: rest.DocumentSummary[] = []
  private documentId: string | null = null
  private isDrawDue = false
  private panelTimer: number | undefined
  private openings = 0
  private numOpen = 0
  private openedWords = OPENED_WORDS

  constructor(root: HTMLElement) {
    const { layout } = this
    const commands = buildCommands(this)
    this.editorHost = {
      commands,
      review: {
        accept: (ids) => this.accept(ids),
        reject: (ids) => this.session?.reject(ids),
        returnToText: () => this.view.focus(),
      },
      noteUpdate: (update) => this.noteUpdate(update),
      noteCompositionEnd: () => this.session?.noteCompositionEnd(),
    }
    this.view = makeView(layout.paper, makeState(this.editorHost, "", { startVersion: 0, clientID: "none" }))
    this.toolbar = buildToolbar(layout, commands)
    this.documentsPanel = new DocumentsPanel(layout.documents, {
      open: (id) => void this.open(id),
      create: () => void this.create({ title: "", text: "" }),
      importFile: (file) => void this.importFile(file),
      deleteOpen: () => {
        const { documentId, session } = this
        if (documentId !== null) confirmDelete(session?.title || "Untitled", () => void this.remove(documentId))
      },
      showAbout: openAbout,
    })
    this.runPanel = new RunPanel({
      goTo: (span) => this.goTo(span),
      setSpan: (span) => this.view.dispatch({ effects: addSpan.of(span) }),
      removeSpan: (id) => this.view.dispatch({ effects: removeSpan.of(id) }),
    })
    this.reviewPanel = new ReviewPanel({
      view: this.view,
      accept: (ids) => this.accept(ids),
      reject: (ids) => this.session?.reject(ids),
      goToSuggestion: (suggestion) => this.goToSuggestion(suggestion),
    })
    this.historyPanel = new HistoryPanel({
      compare: (revision) => void this.compare(revision),
      restore: (revision) => this.session?.restore(revision.n),
    })
    this.tabs = buildTabs("Runs, review and history", [
      { name: "Refine", panel: this.runPanel.element },
      { name: "Review", panel: this.reviewPanel.element },
      { name: "History", panel: this.historyPanel.element },
    ])
    layout.panels.append(this.tabs.element)
    this.dock = new Dock(layout.dock, {
      stop: () => this.session?.stop(),
      togglePause: () => void commands.pauseView(),
      review: () => {
        this.tabs.select("Review")
        commands.nextSuggestion()
      },
      acceptAll: () => this.acceptAll(),
    })
    this.listen(commands)
    root.replaceChildren(layout.root)
  }

  async start(): Promise<void> {
    try {
      this.documents = await rest.listDocuments()
      if (this.documents.length === 0) this.documents = [await rest.createDocument(sampleDocument())]
    } catch (error) {
      this.complain(error)
    }
    const asked = /^#\/d\/(.+)$/.exec(location.hash)?.[1]
    const known = this.documents.find(({ id }) => id === asked) ?? newestOf(this.documents)
    if (known !== undefined) await this.open(known.id)
    this.drawSoon()
  }

  // ---- what commands use

  say(text: string): void {
    this.layout.announcer.say(text)
  }

  closePopups(): boolean {
    return this.layout.closeSheets()
  }

  showReview(): void {
    this.tabs.select("Review")
  }

  // ---- documents

  private async open(id: string): Promise<void> {
    if (id === this.documentId) {
      this.layout.closeSheets()
      return
    }
    const opening = ++this.openings
    this.session?.close()
    this.documentId = id
    this.numOpen = 0
    this.layout.announcer.alarm("run", "") // it was about the other document
    history.replaceState(null, "", `#/d/${id}`)
    const session = new DocumentSession({
      documentId: id,
      makeState: (text, version, clientId) =>
        makeState(this.editorHost, text, { startVersion: version, clientID: clientId }),
      view: this.view,
      keepCopy: async (title, text) => {
        const copy = await rest.createDocument({ title, text })
        this.documents.push(copy)
        return copy.id
      },
    })
    this.view.setState(makeState(this.editorHost, "", { startVersion: 0, clientID: "none" }))
    this.session = session
    session.facts.listen((fact) => {
      if (session === this.session) this.hear(fact, session)
    })
    this.layout.closeSheets()
    this.drawSoon()
    await session.start()
    if (opening !== this.openings) session.close()
  }

  private async create(document: { title: string; text: string }): Promise<void> {
    try {
      const made = await rest.createDocument(document)
      this.documents.push(made)
      await this.open(made.id)
      this.view.focus()
    } catch (error) {
      this.complain(error)
    }
  }

  private async importFile(file: File): Promise<void> {
    try {
      const made = await rest.importFile(file)
      this.documents.push(made)
      await this.open(made.id)
      this.say("File imported.")
    } catch (error) {
      this.complain(error)
    }
  }

  /** Deletes a document; the newest of the others takes its place, or a fresh one. */
  private async remove(id: string): Promise<void> {
    // First, or the open session would report its document as lost.
    this.session?.close()
    this.session = null
    this.documentId = null
    try {
      await rest.deleteDocument(id)
    } catch (error) {
      await this.open(id)
      this.complain(error)
      return
    }
    this.documents = this.documents.filter((one) => one.id !== id)
    this.openedWords = "Document deleted."
    const next = newestOf(this.documents)
    if (next === undefined) await this.create({ title: "", text: "" })
    else await this.open(next.id)
    this.view.focus()
  }

  private async rename(): Promise<void> {
    const { documentId, session } = this
    const title = this.layout.title.value.trim()
    if (documentId === null || session === null || title === session.title) return
    try {
      await rest.renameDocument(documentId, title)
      session.title = title
      this.drawSoon()
    } catch (error) {
      this.complain(error)
    }
  }

  private async compare(revision: RevisionWire): Promise<void> {
    if (this.documentId === null) return
    try {
      const { text } = await rest.readRevision(this.documentId, revision.n)
      const now = this.view.state.doc.toString()
      showComparison(`r${revision.version}`, text, now, () => this.session?.restore(revision.n))
    } catch (error) {
      this.complain(error)
    }
  }

  // ---- review

  private accept(ids: readonly string[]): void {
    const left = this.session?.accept(ids) ?? []
    const count = ids.length - left.length
    const words = count === 1 ? "1 suggestion accepted." : `${count} suggestions accepted.`
    const rest =
      left.length === 0 ? leftWords(this.numOpen) : `${left.length} could not be placed: the text has changed there.`
    this.layout.announcer.sayOutcome(`${words} ${rest}`)
    if (document.activeElement === document.body || document.activeElement === null) this.view.focus()
  }

  private acceptAll(): void {
    const { state } = this.view
    const ids = openSuggestions(state).filter((one) => placeOf(state, one) !== null)
    this.accept(ids.map(({ wire }) => wire.id))
  }

  private goToSuggestion(suggestion: OpenSuggestion): void {
    this.layout.closeSheets()
    goToSuggestion(this.view, suggestion)
  }

  private goTo(span: Span): void {
    this.layout.closeSheets()
    this.view.dispatch({
      selection: { anchor: span.from, head: span.to },
      effects: EditorView.scrollIntoView(span.from, { y: "center" }),
    })
    this.view.focus()
  }

  // ---- facts

  private listen(commands: EditorHost["commands"]): void {
    const { layout } = this
    layout.title.addEventListener("change", () => void this.rename())
    layout.title.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      event.preventDefault() // or the line break would land in the text
      this.view.focus()
    })
    window.addEventListener("beforeunload", (event) => {
      this.session?.flush()
      if ((this.session?.numUnacknowledged() ?? 0) > 0) event.preventDefault()
    })
    document.addEventListener("visibilitychange", () => this.session?.flush())
    document.addEventListener("keydown", (event) => {
      // Keys that must work wherever the focus is; the editor has taken its own by now.
      if (event.defaultPrevented) return
      const isMod = event.ctrlKey || event.metaKey
      if (event.key === "F8") event.shiftKey ? commands.previousSuggestion() : commands.nextSuggestion()
      else if (event.key === "/" && isMod) commands.showShortcuts()
      else if (event.key === "s" && isMod && !event.shiftKey) commands.saveNow()
      else if (event.key === "Enter" && isMod) event.shiftKey ? commands.refineAll() : commands.refine()
      else if (event.key === "Escape" && !document.querySelector("dialog[open], :popover-open")) commands.stop()
      else return
      event.preventDefault()
    })
  }

  private hear(fact: SessionFact, session: DocumentSession): void {
    const { announcer } = this.layout
    switch (fact.kind) {
      case "opened":
        this.say(this.openedWords)
        this.openedWords = OPENED_WORDS
        break
      case "run_began":
        this.tabs.select("Refine")
        break
      case "run_over":
        if (openSuggestions(this.view.state).length > 0) this.tabs.select("Review")
        break
      case "note":
        this.say(fact.message)
        break
      case "trouble":
        this.say(explain(fact.code, fact.message))
        break
      case "unsent":
        showUnsent(fact.message, fact.text)
        break
      case "link":
        announcer.alarm("link", linkAlarm(fact.link))
        break
      case "edited":
        this.noteEdited()
        break
      case "pass":
      case "changed":
        break
    }
    this.countOpen()
    narrateRun(fact, announcer, this.numOpen)
    if (session.title !== "") this.noteTitle(session)
    this.drawSoon()
  }

  private noteTitle(session: DocumentSession): void {
    const entry = this.documents.find(({ id }) => id === this.documentId)
    if (entry !== undefined) entry.title = session.title
  }

  /** "2 suggestions" must not stand where fewer are left. */
  private countOpen(): void {
    const before = this.numOpen
    this.numOpen = openSuggestions(this.view.state).length
    if (this.numOpen < before) this.layout.announcer.replaceOutcome(leftWords(this.numOpen))
  }

  private noteEdited(): void {
    const entry = this.documents.find(({ id }) => id === this.documentId)
    if (entry !== undefined) entry.updated_s = Date.now() / 1000
  }

  private noteUpdate(update: ViewUpdate): void {
    this.session?.noteUpdate(update)
    // At once, not with the next frame: "Saved" must not stand beside text that is not.
    if (this.session !== null) this.drawSaveWords(this.session)
    if (update.transactions.some(isOwnEdit)) this.layout.announcer.replaceOutcome("")
    for (const transaction of update.transactions) {
      const refusal = refusalOf(transaction)
      if (refusal !== null) this.say(refusal)
    }
    if (update.docChanged || update.selectionSet || update.transactions.length > 0) this.drawSoon()
  }

  private complain(error: unknown): void {
    if (error instanceof rest.RestError) this.say(explain(error.code, error.status === 0 ? "" : error.message))
    else throw error
  }

  // ---- drawing

  /** What stands beside the caret's work with the next frame, lists once typing rests a moment. */
  private drawSoon(): void {
    if (!this.isDrawDue) {
      this.isDrawDue = true
      requestAnimationFrame(() => {
        this.isDrawDue = false
        this.draw()
      })
    }
    this.panelTimer ??= window.setTimeout(() => {
      this.panelTimer = undefined
      this.drawPanels()
    }, PANEL_GAP_MS)
  }

  private draw(): void {
    const { layout, session, view } = this
    layout.root.classList.toggle("tl-loading", session === null || !session.isReady)
    this.drawTools()
    if (session === null) return
    this.drawSaveWords(session)
    const numOpen = openSuggestions(view.state).length
    this.tabs.badge("Review", numOpen)
    this.dock.show({ run: session.runs.active().at(-1) ?? null, isPaused: session.runView.isPaused, numOpen })
  }

  private drawPanels(): void {
    const { layout, session, view } = this
    this.documentsPanel.show(this.documents, this.documentId)
    if (session === null) return
    if (document.activeElement !== layout.title) layout.title.value = session.title
    document.title = `${session.title || "Untitled"} · Tideline`
    this.runPanel.show(session, view.state)
    this.reviewPanel.show()
    this.historyPanel.show(session.revisions, session.version)
    this.drawBanner(session)
    const count = countWords(view)
    layout.words.textContent = count === 1 ? "1 word" : `${count.toLocaleString()} words`
  }

  private drawBanner(session: DocumentSession): void {
    const { banner } = this.layout
    const copy = session.conflictCopy
    banner.hidden = copy === null
    refill(banner, copy ?? "", () => (copy === null ? [] : this.bannerParts(session, copy)))
  }

  private bannerParts(session: DocumentSession, copy: string): Node[] {
    const words = "Your changes and the server's could not be joined. Your copy is a document of its own. "
    const dismiss = (): void => {
      session.conflictCopy = null
      this.drawSoon()
    }
    return [
      document.createTextNode(words),
      button("Open your copy", () => void this.open(copy), { class: "tl-quiet" }),
      button("Dismiss", dismiss, { class: "tl-quiet" }),
    ]
  }

  private drawSaveWords(session: DocumentSession): void {
    const { save } = this.layout
    const state = session.saveState
    save.dataset["kind"] = state.kind
    if (save.textContent !== state.words) save.textContent = state.words
  }

  private drawTools(): void {
    const { state } = this.view
    const range = state.selection.main
    const isOpen = this.session?.isReady ?? false
    const isInWord = range.empty ? state.wordAt(range.head) !== null : true
    const isLocked = spansTouching(state, range, "locked").length > 0
    const isRegion = spansTouching(state, range, "region").length > 0
    const targets = refineTargets(state)
    this.toolbar.show({
      canLock: isOpen && (isLocked || isInWord),
      isLocked,
      canMark: isOpen && (isRegion || isInWord),
      isRegion,
      numTargets: isOpen ? (range.empty || isRegion ? targets.length : 1) : 0,
    })
  }
}

function newestOf(documents: readonly rest.DocumentSummary[]): rest.DocumentSummary | undefined {
  return documents.reduce<rest.DocumentSummary | undefined>(
    (newest, one) => (newest === undefined || one.updated_s > newest.updated_s ? one : newest),
    undefined,
  )
}

/** Words are counted again only when the text changed. */
const COUNTS = new WeakMap<object, number>()

function countWords(view: EditorView): number {
  const { doc } = view.state
  const known = COUNTS.get(doc)
  if (known !== undefined) return known
  let count = 0
  for (const line of doc.iterLines()) count += line.match(/\S+/g)?.length ?? 0
  COUNTS.set(doc, count)
  return count
}

function linkAlarm(link: string): string {
  switch (link) {
    case "waiting":
      return "Connection lost. You can go on writing; it is kept on this device and sent later."
    case "denied":
      return "Your access has ended. Open the link the server printed in another tab; your text stays here."
    case "gone":
      return "This document is no longer on the server. Copy your text."
    default:
      return ""
  }
}
