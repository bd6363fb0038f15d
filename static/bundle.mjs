// Bundles src/main.ts and theme.css into dist/, with the licences of what was bundled.
// Run through build_hook.py, which installs the pinned packages first and writes the stamp last.
import { build } from "esbuild"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))

// CodeMirror's commands import its parser libraries; none of the commands used here needs them.
const dropUnusedParsers = {
  name: "drop-unused-parsers",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@(codemirror\/language|lezer\/)/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === "inner") return undefined
      const found = await resolve(path, { ...options, pluginData: "inner" })
      return { ...found, sideEffects: false }
    })
  },
}

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  // What few need at once is a file of its own, fetched when it is asked for.
  splitting: true,
  chunkNames: "part-[hash]",
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "none",
  sourcemap: false,
  metafile: true,
  plugins: [dropUnusedParsers],
  logLevel: "warning",
})

/** The packages of which something is in the bundle. */
function bundledPackages(outputs) {
  const found = new Set()
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)
      if (match && bytesInOutput > 0) found.add(match[1])
    }
  }
  return [...found].sort()
}

function notice(name) {
  const folder = join(here, "node_modules", name)
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  if (!file || !existsSync(join(folder, file))) throw new Error(`no licence text in ${name}`)
  const text = readFileSync(join(folder, file), "utf8").trim()
  return `${name} ${version} (${license})\n\n${text}\n`
}

const notices = bundledPackages(result.metafile.outputs).map(notice)
writeFileSync(join(here, "dist", "NOTICES.txt"), notices.join(`\n${"-".repeat(72)}\n\n`))
