"""What an investigation carried, as a picture: the same wedge for a terminal and as SVG. Pure."""
