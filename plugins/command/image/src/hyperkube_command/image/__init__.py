"""hyperkube image: the images of a node's runtime, and the image of hyperkube itself."""
