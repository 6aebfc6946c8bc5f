"""The parts of `hyperkube simulate`: what it reads, and how it shows what came of it."""
