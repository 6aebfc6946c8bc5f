"""What is wrong with core objects: field paths, kinds of error and texts as Kubernetes has them."""
