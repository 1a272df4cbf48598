"""The drivers of the studio's modes, which move the figure and provide plots and drawings."""
