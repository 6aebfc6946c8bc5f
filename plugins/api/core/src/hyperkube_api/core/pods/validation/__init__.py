"""What is wrong with pods: field paths, kinds of error and texts as Kubernetes has them."""
