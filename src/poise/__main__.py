"""`python -m poise` is the command line."""

from poise.cli import main

main()
