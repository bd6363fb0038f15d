// Writes random change sets and what the real @codemirror/state makes of them, as JSON.
// node changeset_twin.mjs PATH_OF_STATE_MODULE SEED COUNT
import { pathToFileURL } from "node:url"

const [modulePath, seedText, countText] = process.argv.slice(2)
const { ChangeSet, Text } = await import(pathToFileURL(modulePath).href)

let seed = Number(seedText)
const random = (below) => {
  seed = (seed * 1103515245 + 12345) % 2147483648
  return Math.floor((seed / 2147483648) * below)
}
const letters = (alphabet, count) => {
  let text = ""
  for (let i = 0; i < count; i++) text += alphabet[random(alphabet.length)]
  return text
}
const change = (length) => {
  const specs = []
  for (let k = random(4); k >= 0; k--) {
    const from = random(length + 1)
    const to = random(3) ? from + random(Math.min(6, length - from + 1)) : from
    specs.push({ from, to, insert: random(4) ? letters("abcde\n", 1 + random(4)) : "" })
  }
  return ChangeSet.of(specs, length)
}

const vectors = []
for (let i = 0; i < Number(countText); i++) {
  const text = letters("uvwxyz\n", random(16))
  const doc = Text.of(text.split("\n"))
  const a = change(text.length)
  const b = change(text.length)
  const c = change(a.newLength)
  const positions = []
  for (let p = 0; p <= text.length; p++) positions.push([a.mapPos(p, -1), a.mapPos(p, 1)])
  const changes = []
  a.iterChanges((from, to, newFrom, _newTo, inserted) =>
    changes.push([from, to, newFrom, inserted.toString()]),
  )
  vectors.push({
    text,
    a: a.toJSON(),
    b: b.toJSON(),
    c: c.toJSON(),
    applied: a.apply(doc).toString(),
    inverted: a.invert(doc).toJSON(),
    composed: a.compose(c).toJSON(),
    mapped: b.map(a).toJSON(),
    mapped_before: a.map(b, true).toJSON(),
    positions,
    changes,
  })
}
console.log("[\n" + vectors.map((vector) => JSON.stringify(vector)).join(",\n") + "\n]")
