"""Live retargeting: a stream of a person's postures, followed frame by frame.

`LiveRetarget` in `live` is the entry point.
"""
