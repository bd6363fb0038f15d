"""The diffusion engine: canvas, denoisers, sampling, scheduler and worker process.

It knows nothing of the web, the store or the browser. The application reaches it through
`engine.client`, `engine.contract`, `engine.errors` and `engine.settings` only; these four
import no torch.
"""
