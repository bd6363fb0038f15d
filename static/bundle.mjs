// Bundles src/main.ts and theme.css into dist/, with the licences of what was bundled.
// Run through build_hook.py, which installs the pinned packages first and writes the stamp last.
import { build } from "esbuild"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  legalComments: "none",
  sourcemap: false,
  metafile: true,
  logLevel: "warning",
})

/** The package folders that contributed at least one module to the bundle. */
function bundledPackages(inputs) {
  const found = new Set()
  for (const path of Object.keys(inputs)) {
    const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)
    if (match) found.add(match[1])
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

const notices = bundledPackages(result.metafile.inputs).map(notice)
writeFileSync(join(here, "dist", "NOTICES.txt"), notices.join(`\n${"-".repeat(72)}\n\n`))
