"""Models behind one protocol: the embedded infill denoiser and the scripted one."""
