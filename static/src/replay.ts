/**
 * Replay: a finished run, pass by pass, from memory; beside it, on request, the same regions run
 * left to right. Played, stepped, scrubbed; words can be masked; a list of sentences says the same.
 *
 * Owns the dialog and its clock. Nothing is fetched or stored: when the page goes, this goes.
 */

import { openDialog } from "./dialogs"
import { button, h, iconButton, replaceChildren, setAttributes } from "./dom"
import { icon } from "./icons"
import { prefersCalm } from "./preferences"
import { passAt, type Replay, replayOf, restlessWords, sentenceOf } from "./replay_model"
import { ReplayStage } from "./replay_stage"
import { ReplayStrip } from "./replay_strip"
import { isActive, type RunRecord } from "./run_model"

export interface ReplayHost {
  readonly run: RunRecord
  /** Starts the same regions left to right; null when that may be done, else why not. */
  startBaseline(): string | null
  stopBaseline(): void
  /** The run beside it, once it began. */
  baseline(): RunRecord | null
  /** Calls back when the run beside it has news; returns what ends that. */
  listen(hear: () => void): () => void
}

const SPEEDS = [0.25, 0.5, 1, 2, 4] as const
const MOST_RESTLESS = 8
const END_HOLD_MS = 400

export function showReplay(host: ReplayHost): void {
  new ReplayView(host)
}

class ReplayView {
  private readonly replay: Replay
  private other: Replay | null = null
  private at = 0
  private isMasked = false
  private isByTime = true
  private speed = 1
  private playing: number | null = null
  /** Moments of the slider: every pass of both runs, in order of time. */
  private moments: number[] = []

  private readonly main = new ReplayStage("In parallel passes")
  private readonly beside = new ReplayStage("Left to right")
  private readonly strip = new ReplayStrip((index) => this.seek(this.momentOfPass(index)))
  private readonly slider = h("input", { type: "range", class: "tl-replay-slider", min: 0, step: 1, "aria-label": "Moment of the run" })
  private readonly playButton: HTMLButtonElement
  private readonly compare: HTMLButtonElement
  /** Of use once there are two runs. */
  private readonly measure = this.measureChoice()
  private readonly stages = h("div", { class: "tl-stages" })
  private readonly restless = h("section", { class: "tl-restless", "aria-label": "Words that changed often or late" })
  private readonly sentences = h("ol", { class: "tl-sentences", role: "listbox", "aria-label": "The run in sentences", hidden: true })
  private readonly picture: HTMLElement
  private readonly dialog: HTMLDialogElement

  constructor(private readonly host: ReplayHost) {
    this.replay = replayOf(host.run)
    this.playButton = iconButton(icon("play"), "Play", () => this.togglePlay(), { class: "tl-play" })
    this.compare = button([icon("columns"), h("span", {}, "Set beside left to right")], () => this.startBaseline(), { class: "tl-quiet" })
    this.stages.append(this.main.element)
    this.picture = h("div", { class: "tl-replay-picture" }, this.strip.element, legend(), this.restless)
    this.dialog = openDialog("Replay", "tl-replay", this.stages, this.picture, this.sentences, this.transport())
    this.dialog.querySelector(".tl-dialog-body")?.removeAttribute("tabindex")
    const end = host.listen(() => this.takeBaseline())
    this.dialog.addEventListener("close", () => {
      end()
      this.stopPlay()
      host.stopBaseline()
    })
    this.slider.addEventListener("input", () => {
      this.stopPlay()
      this.seek(this.slider.valueAsNumber)
    })
    this.slider.addEventListener("keydown", (event) => {
      if (event.key !== " ") return
      event.preventDefault()
      this.togglePlay()
    })
    this.sentences.addEventListener("keydown", (event) => this.pressInList(event))
    this.strip.draw(this.replay)
    this.drawRestless()
    this.recount()
    this.seek(0)
    this.slider.focus()
    if (!prefersCalm()) this.togglePlay()
  }

  // ---- where we are

  private recount(): void {
    const own = this.replay.passes.map(({ atMs }) => atMs)
    const others = this.isByTime ? (this.other?.passes.map(({ atMs }) => atMs) ?? []) : []
    const byPass = Math.max(own.length, this.isByTime ? 0 : (this.other?.passes.length ?? 0))
    this.moments = this.isByTime ? [...new Set([...own, ...others])].sort((a, b) => a - b) : Array.from({ length: byPass }, (_, at) => at)
    this.slider.max = String(Math.max(0, this.moments.length - 1))
  }

  private momentOfPass(index: number): number {
    if (!this.isByTime) return index
    return Math.max(0, this.moments.indexOf(this.replay.passes[index]?.atMs ?? 0))
  }

  private passesNow(): { own: number; other: number } {
    const moment = this.moments[this.at] ?? 0
    const index = (replay: Replay): number => (this.isByTime ? passAt(replay, moment) : Math.min(this.at, replay.passes.length - 1))
    return { own: index(this.replay), other: this.other === null ? 0 : index(this.other) }
  }

  private seek(at: number): void {
    this.at = Math.max(0, Math.min(this.moments.length - 1, at))
    const { own, other } = this.passesNow()
    this.slider.value = String(this.at)
    this.slider.setAttribute("aria-valuetext", sentenceOf(this.replay, own, true))
    this.slider.style.setProperty("--tl-done", `${(this.at / Math.max(1, this.moments.length - 1)) * 100}%`)
    this.main.show(this.replay, own, this.isMasked)
    if (this.other !== null && this.other.passes.length > 0) this.beside.show(this.other, other, this.isMasked)
    this.strip.show(own)
    this.markSentence(own)
  }

  private step(by: number): void {
    this.stopPlay()
    this.seek(this.at + by)
  }

  // ---- the clock

  private togglePlay(): void {
    if (this.playing !== null) return this.stopPlay()
    if (this.at >= this.moments.length - 1) this.seek(0)
    this.showPlaying(true)
    this.wait()
  }

  private wait(): void {
    const [now, next] = [this.moments[this.at], this.moments[this.at + 1]]
    if (now === undefined || next === undefined) {
      this.playing = window.setTimeout(() => this.stopPlay(), END_HOLD_MS)
      return
    }
    const meanMs = (this.replay.passes.at(-1)?.atMs ?? 0) / Math.max(1, this.replay.passes.length)
    const gapMs = this.isByTime ? next - now : meanMs
    this.playing = window.setTimeout(() => {
      this.seek(this.at + 1)
      this.wait()
    }, gapMs / this.speed)
  }

  private stopPlay(): void {
    if (this.playing !== null) window.clearTimeout(this.playing)
    this.playing = null
    this.showPlaying(false)
  }

  private showPlaying(isPlaying: boolean): void {
    const name = isPlaying ? "Pause" : "Play"
    replaceChildren(this.playButton, icon(isPlaying ? "pause" : "play"))
    setAttributes(this.playButton, { "aria-label": name, title: name })
  }

  // ---- the run beside it

  private startBaseline(): void {
    this.stages.append(this.beside.element)
    this.stages.classList.add("tl-two")
    const problem = this.host.startBaseline()
    this.beside.say(problem ?? "Running the same regions word by word…")
    this.compare.disabled = true
    this.slider.focus()
  }

  private takeBaseline(): void {
    const run = this.host.baseline()
    if (run === null || !this.compare.disabled) return
    if (isActive(run)) this.beside.say(`Running the same regions word by word… ${run.passes.length} so far.`)
    else if (run.passes.length === 0) this.beside.say("It ended without a word.")
    else {
      this.other = replayOf(run)
      this.measure.hidden = false
      this.compare.hidden = true
      this.recount()
      this.seek(0)
      if (!prefersCalm() && this.playing === null) this.togglePlay()
    }
  }

  // ---- controls

  private transport(): HTMLElement {
    const masked = toggle("Hide words", (isOn) => {
      this.isMasked = isOn
      this.drawRestless()
      this.drawSentences()
      this.seek(this.at)
    })
    const list = toggle("As sentences", (isOn) => {
      this.sentences.hidden = !isOn
      this.picture.hidden = this.stages.hidden = isOn
      this.drawSentences()
      if (isOn) this.sentences.querySelector<HTMLElement>('[aria-selected="true"]')?.focus()
    })
    const speed = h("select", { "aria-label": "Speed" }, ...SPEEDS.map((one) => h("option", { value: one, selected: one === 1 }, `${one}×`)))
    speed.addEventListener("change", () => (this.speed = Number(speed.value)))
    return h(
      "div",
      { class: "tl-dialog-foot tl-transport" },
      this.slider,
      h(
        "div",
        { class: "tl-row" },
        iconButton(icon("first"), "First pass", () => this.step(-this.moments.length)),
        iconButton(icon("left"), "Step back", () => this.step(-1)),
        this.playButton,
        iconButton(icon("right"), "Step forward", () => this.step(1)),
        iconButton(icon("last"), "Last pass", () => this.step(this.moments.length)),
        speed,
        this.measure,
        h("span", { class: "tl-card-gap" }),
        masked,
        list,
        this.compare,
      ),
    )
  }

  private measureChoice(): HTMLSelectElement {
    const options = [h("option", { value: "time" }, "Equal time"), h("option", { value: "passes" }, "Equal passes")]
    const measure = h("select", { "aria-label": "What is equal", hidden: true }, ...options)
    measure.addEventListener("change", () => {
      const { own } = this.passesNow()
      this.isByTime = measure.value === "time"
      this.recount()
      this.seek(this.momentOfPass(own))
    })
    return measure
  }

  private drawRestless(): void {
    const words = restlessWords(this.replay)
    const rows = words.slice(0, MOST_RESTLESS).map(({ position, text, numChanges, lastPass }) =>
      h(
        "li",
        {},
        h("b", {}, this.isMasked ? `word ${position}` : text),
        ` ${numChanges === 1 ? "changed once" : numChanges === 2 ? "changed twice" : `changed ${numChanges} times`}, last in pass ${lastPass}`,
      ),
    )
    const none = h("p", { class: "tl-empty" }, "None in this run.")
    this.picture.classList.toggle("tl-calm", rows.length === 0)
    replaceChildren(
      this.restless,
      h("h3", {}, "Changed often or late"),
      rows.length === 0 ? none : h("ul", {}, ...rows),
      words.length > rows.length && h("p", { class: "tl-empty" }, `and ${words.length - rows.length} more`),
    )
  }

  private drawSentences(): void {
    if (this.sentences.hidden) return
    const { own } = this.passesNow()
    replaceChildren(
      this.sentences,
      ...this.replay.passes.map((_, index) =>
        h("li", { role: "option", tabindex: "-1", on: { click: () => this.seek(this.momentOfPass(index)) } }, sentenceOf(this.replay, index, this.isMasked)),
      ),
    )
    this.markSentence(own)
  }

  private markSentence(index: number): void {
    ;[...this.sentences.children].forEach((row, at) =>
      setAttributes(row, { "aria-selected": String(at === index), tabindex: at === index ? "0" : "-1" }),
    )
  }

  private pressInList(event: KeyboardEvent): void {
    const last = this.replay.passes.length - 1
    const { own } = this.passesNow()
    const wanted = { ArrowDown: own + 1, ArrowUp: own - 1, Home: 0, End: last }[event.key]
    if (wanted === undefined) return
    event.preventDefault()
    this.stopPlay()
    const index = Math.max(0, Math.min(last, wanted))
    this.seek(this.momentOfPass(index))
    ;(this.sentences.children[index] as HTMLElement | undefined)?.focus()
  }
}

function toggle(words: string, set: (isOn: boolean) => void): HTMLButtonElement {
  const element = button(words, () => {
    const isOn = element.getAttribute("aria-pressed") !== "true"
    element.setAttribute("aria-pressed", String(isOn))
    set(isOn)
  }, { class: "tl-quiet tl-toggle", "aria-pressed": "false" })
  return element
}

function legend(): HTMLElement {
  const key = (kind: string, words: string): HTMLElement =>
    h("span", { class: "tl-strip-key" }, h("i", { class: `tl-key-${kind}`, "aria-hidden": "true" }), words)
  return h(
    "p",
    { class: "tl-strip-legend" },
    key("stable", "final"), key("settled", "settled"), key("open", "open"), key("blank", "blank"), key("change", "changed in this pass"),
    h("span", {}, "Words across, passes down. Press a row to go there."),
  )
}
