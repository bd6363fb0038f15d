/** The words of one pass, in their sentence, large. In safe mode every word is a bar of its length. */

import { append, type Child, h, replaceChildren } from "./dom"
import { draftOf, pieceNode, piecesOf } from "./drafts"
import type { RegionFrame } from "./protocol.gen"
import { lastPass, present, type Replay, shareSettledAt } from "./replay_model"

const SECONDS = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

export class ReplayStage {
  readonly element: HTMLElement
  private readonly text = h("div", { class: "tl-stage-text" })
  private readonly facts = h("p", { class: "tl-stage-facts" })
  private readonly meter = h("span", { class: "tl-stage-meter", "aria-hidden": "true" }, h("i", {}))

  constructor(title: string) {
    this.element = h(
      "section",
      { class: "tl-stage", "aria-label": title },
      h("div", { class: "tl-stage-head" }, h("h3", {}, title), this.facts),
      this.meter,
      this.text,
    )
  }

  show(replay: Replay, index: number, isMasked: boolean): void {
    const pass = replay.passes[index]
    if (pass === undefined) return
    const { isBaseline } = replay.run
    const numWords = present(pass).length
    // Left to right, what is there is settled; what is to come is unknown.
    const share = isBaseline ? Math.round((pass.pass / lastPass(replay)) * 100) : shareSettledAt(pass)
    const state = isBaseline ? `${numWords} ${numWords === 1 ? "word" : "words"}` : `${share} % settled`
    this.facts.textContent = `Pass ${pass.pass} of ${lastPass(replay)} · ${SECONDS.format(pass.atMs / 1000)} s · ${state}`
    ;(this.meter.firstElementChild as HTMLElement).style.width = `${share}%`
    const paragraphs: HTMLElement[] = []
    for (const region of pass.frame.regions) {
      const place = replay.run.places.find(({ spanId }) => spanId === region.span_id)
      const nodes = [around(place?.before ?? "", isMasked), regionNode(region, isMasked), around(place?.after ?? "", isMasked)]
      const last = paragraphs.at(-1)
      if (last !== undefined && place?.isSameLine) append(last, nodes)
      else paragraphs.push(h("p", {}, ...nodes))
    }
    replaceChildren(this.text, ...paragraphs)
  }

  /** Words in place of a replay that is not there. */
  say(words: string): void {
    this.facts.textContent = ""
    replaceChildren(this.text, h("p", { class: "tl-empty" }, words))
  }
}

function around(text: string, isMasked: boolean): Child {
  if (text === "") return null
  return isMasked ? maskedNode(text, "tl-around") : h("span", { class: "tl-around" }, text)
}

function regionNode(region: RegionFrame, isMasked: boolean): HTMLElement {
  const pieces = piecesOf(draftOf(region, ""))
  const end = pieces.findLastIndex(({ kind }) => kind === "stable")
  const nodes = pieces.flatMap((piece, at): Child[] => {
    const node = isMasked && piece.kind !== "blank" ? maskedNode(piece.text, `tl-${piece.kind}`) : pieceNode(piece)
    return at === end ? [node, h("span", { class: "tl-tide", "aria-hidden": "true" })] : [node]
  })
  return h("span", { class: "tl-stage-region" }, ...nodes)
}

/** Bars instead of words: their lengths and nothing else. */
function maskedNode(text: string, name: string): HTMLElement {
  const parts = [...text.matchAll(/\s+|\S+/gu)].map(([part]) =>
    part.trim() === "" ? part : h("i", { class: "tl-bar", style: `width:${(part.length * 0.52).toFixed(2)}em` }),
  )
  return h("span", { class: `${name} tl-masked`, role: "img", "aria-label": "words hidden" }, ...parts)
}
