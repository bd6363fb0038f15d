"""The application: documents, protocol, hub, store, web and the Gradio shell. Torch-free."""
