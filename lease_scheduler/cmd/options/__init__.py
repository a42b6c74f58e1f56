"""How the options of the programs become the values that engine, clouds and simulator take."""
