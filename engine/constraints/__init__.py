"""What a region's text must satisfy: automata over characters. Torch-free; knows no model."""
