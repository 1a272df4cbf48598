"""The report of a retargeted motion, and the retargeting of whole folders of clips."""
