"""What goes wrong in a world. A seed switches some of it on; in the last part of a world, nothing new goes wrong."""
