/** A short tour for the first visit: four cards at the edge of the paper, never in the way of typing. */

import { button, h, iconButton, replaceChildren } from "./dom"
import { icon, type IconName } from "./icons"
import { hint, type CommandName } from "./keys"
import { setTourDone } from "./preferences"

interface Step {
  readonly picture: IconName
  readonly title: string
  readonly words: string
  readonly command: CommandName
}

const STEPS: readonly Step[] = [
  {
    picture: "lock",
    title: "Lock what must stay",
    words: "Select words and press Lock. No run and no slip of the keyboard can change them. Two are locked already.",
    command: "toggleLock",
  },
  {
    picture: "region",
    title: "Mark what may change",
    words: "Select words and press Region, or leave a blank by typing [___]. Everything else stays as it is.",
    command: "toggleRegion",
  },
  {
    picture: "wave",
    title: "Refine",
    words: "Words appear over the text and settle pass by pass, reading what stands on both sides. Press it now.",
    command: "refine",
  },
  {
    picture: "check",
    title: "You decide",
    words: "Nothing enters the text until you accept it, change by change if you like. Then look at the run again in Replay.",
    command: "nextSuggestion",
  },
]

/** Shows the tour in `parent`; returns what ends it. */
export function startTour(parent: HTMLElement, end: () => void): () => void {
  let at = 0
  const card = h("aside", { class: "tl-tour", "aria-label": "A short tour" })
  const close = (): void => {
    card.remove()
    point("")
    setTourDone()
    end()
  }
  const go = (step: number): void => {
    at = step
    draw()
    card.querySelector<HTMLElement>(".tl-primary")?.focus({ preventScroll: true })
  }
  const draw = (): void => {
    const step = STEPS[at] as Step
    const isLast = at === STEPS.length - 1
    point(String(at))
    replaceChildren(
      card,
      h("div", { class: "tl-tour-head" }, icon(step.picture), h("h2", {}, step.title), iconButton(icon("cross"), "End the tour", close)),
      h("p", {}, step.words),
      h(
        "div",
        { class: "tl-row" },
        h("kbd", {}, hint(step.command)),
        h("span", { class: "tl-card-gap" }),
        h("span", { class: "tl-empty" }, `${at + 1} of ${STEPS.length}`),
        at > 0 && button("Back", () => go(at - 1), { class: "tl-quiet" }),
        button(isLast ? "Done" : "Next", () => (isLast ? close() : go(at + 1)), { class: "tl-primary" }),
      ),
    )
  }
  draw()
  parent.append(card)
  return close
}

/** The page outlines what a step speaks of. */
function point(step: string): void {
  const app = document.querySelector<HTMLElement>(".tl-app")
  if (app !== null) app.dataset["tour"] = step
}
