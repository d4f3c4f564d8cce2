"""The promise to senders: what was accepted here is on the disk, and nothing makes it go away.

`inbox.py` is the front; `decision.py` says, without a database, which incident an alert belongs
to; `accepting.py` carries that out for many senders in one transaction, which `writer.py` commits;
`database.py` opens the file or the server and knows how each of them fails.
"""
