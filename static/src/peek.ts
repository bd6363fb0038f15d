/** While a key or button is held, the text shows itself: drafts and suggestions step aside. */

import { StateEffect, StateField } from "@codemirror/state"

export const setPeek = StateEffect.define<boolean>()

export const peekField = StateField.define<boolean>({
  create: () => false,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setPeek)) return effect.value
    return value
  },
})
